"""Beliefs about skills given responses, of one examinee or of many."""
