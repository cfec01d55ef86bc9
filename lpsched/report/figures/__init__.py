"""Figures by Matplotlib, also on pages."""
