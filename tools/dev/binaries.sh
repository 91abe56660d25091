# ./dev binaries [TARGET...] [--twice]
#     the command as one file for Linux and Windows; --twice: again in different folders, and compare the bytes
release_tools binaries.py "$@"
