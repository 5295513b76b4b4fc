"""Layouts, and pictures as SVG and text."""
