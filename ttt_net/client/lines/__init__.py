"""Line by line: for pipes, programs, dumb terminals and screen readers."""
