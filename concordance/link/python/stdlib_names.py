"""Names of Python's standard library, over its versions.

In: nothing. Out: the names that an import of the standard library starts with, and those that are taken
before a script's own folder is looked into.
"""

from __future__ import annotations

import sys

# fmt: off
_OTHER_VERSIONS = frozenset((  # of Python 2.7 and 3.8 to 3.14
    "test", "annotationlib", "compression", "tomllib", "distutils", "imp", "asynchat", "asyncore", "smtpd", "aifc",
    "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap", "msilib", "nis", "nntplib",
    "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib", "binhex", "formatter", "parser",
    "symbol", "macpath", "dummy_threading", "_dummy_thread", "__main__", "_typeshed", "ConfigParser", "Queue",
    "SocketServer", "StringIO", "cStringIO", "cPickle", "copy_reg", "httplib", "urllib2", "urlparse", "Tkinter",
    "tkMessageBox", "HTMLParser", "Cookie", "cookielib", "BaseHTTPServer", "SimpleHTTPServer", "CGIHTTPServer",
    "SimpleXMLRPCServer", "DocXMLRPCServer", "xmlrpclib", "__builtin__", "commands", "thread", "exceptions",
    "htmlentitydefs", "robotparser", "md5", "sha", "sets", "UserDict", "UserList", "UserString", "anydbm", "dumbdbm",
    "whichdb", "new", "popen2", "rfc822", "_android_support", "_bootsubprocess", "_colorize", "_crypt",
    "_interpchannels", "_interpqueues", "_interpreters", "_ios_support", "_msi", "_opcode_metadata", "_pydatetime",
    "_pylong", "_pyrepl", "_sha2", "_sha256", "_sha512", "_suggestions", "_sysconfig", "_wmi",
))
# Loaded before a script runs, so that a file of this name beside it is not seen.
LOADED = frozenset((
    "sys", "builtins", "io", "os", "abc", "codecs", "site", "stat", "types", "posixpath", "ntpath", "genericpath",
    "warnings", "marshal", "time", "errno", "signal",
))
# fmt: on
# What a book says must not depend on the Python that runs us: the names of one version are filled up by the others'.
STANDARD = sys.stdlib_module_names | _OTHER_VERSIONS
