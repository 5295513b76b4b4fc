"""Options, messages and tables that all commands share."""
