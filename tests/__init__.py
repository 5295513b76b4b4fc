"""Tests of bnmind; they mirror the package."""
