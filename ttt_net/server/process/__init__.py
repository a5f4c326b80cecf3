"""The server as a process: banner, mDNS, service manager, maintenance."""
