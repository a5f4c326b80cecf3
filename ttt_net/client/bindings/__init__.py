"""From keys and typed words to actions, and what is said of them where they can be used."""
