"""Pure tournament mathematics. Empty until tournaments are built."""
