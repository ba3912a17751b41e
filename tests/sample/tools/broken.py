def broken(:
    pass

def fine():
    return 1
