# ./dev binaries [TARGET...] [--twice]
#     the command as one file for Linux and Windows; --twice: again in different folders, the bytes have to be the same
release_tools binaries.py "$@"
