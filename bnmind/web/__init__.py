"""The pages and the JSON API of ``bnmind web``. They show and ask; the rooms below compute."""
