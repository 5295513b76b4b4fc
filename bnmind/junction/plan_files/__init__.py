"""Files of plans, which hold elimination orders instead of tables."""
