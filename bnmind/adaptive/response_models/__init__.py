"""Response models: how skills or an ability make the responses to an item, a file a family."""
