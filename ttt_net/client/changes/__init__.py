"""From one view to the next: what comes of what is heard, and of what is done."""
