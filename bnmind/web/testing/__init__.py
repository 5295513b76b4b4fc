"""Tests on pages: people take them, and a teacher watches and exports them."""
