"""What can be asked of the studio, a file a subject."""
