"""PDF: pages, columns, fields and notes."""
