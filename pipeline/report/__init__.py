"""What the report shows: figures, tables and pages."""
