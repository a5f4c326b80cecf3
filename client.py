"""Join a ttt_net server: `python client.py [ADDRESS]`, or `python client.py --help`."""

if __name__ == "__main__":
    try:  # Ctrl-C counts from the first line on, as what starts us is loaded, too
        from ttt_net.bootstrap import enter

        enter("ttt_net.commands.play")
    except KeyboardInterrupt:
        raise SystemExit(130) from None
