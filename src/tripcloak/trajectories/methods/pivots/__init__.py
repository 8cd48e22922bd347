"""What the methods that hide people in clusters round a pivot share."""
