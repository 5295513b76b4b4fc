"""Tables of responses, items and skills in the files of other programs."""
