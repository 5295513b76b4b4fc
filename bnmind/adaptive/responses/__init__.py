"""Tables of responses, and the examinees who gave them."""
