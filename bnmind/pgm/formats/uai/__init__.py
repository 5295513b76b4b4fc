"""Files of the UAI inference competitions: models, names, evidence, queries and answers."""
