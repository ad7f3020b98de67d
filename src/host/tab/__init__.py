"""Tab: the candidates for the word at the cursor."""
