"""Mix zones: where people fall silent together and come out under new pseudonyms."""
