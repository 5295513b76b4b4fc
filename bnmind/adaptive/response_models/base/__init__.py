"""The interface of response models, and functions that the models share."""
