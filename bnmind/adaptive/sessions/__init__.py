"""Live sessions: one examinee, saved after every answer."""
