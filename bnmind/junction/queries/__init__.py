"""Single queries, most probable explanations, marginal MAP and samples."""
