"""What figures of all papers share: their style, and plots over an axis or over categories."""
