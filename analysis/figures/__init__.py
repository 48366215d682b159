"""Shared by figures of all papers: their style, and plots over an axis or over categories."""
