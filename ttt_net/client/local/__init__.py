"""Play matches at this keyboard: by the referee that servers have, and without one."""
