"""What is compiled by numba (the extra `engine`); imported only through `ttt_net.strategies.engine`."""
