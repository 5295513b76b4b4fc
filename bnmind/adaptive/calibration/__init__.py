"""Learning while testing: answers of finished tests, new items calibrated, drift noticed."""
