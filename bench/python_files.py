"""Compares our Python reader with CPython on every file under some folders."""
from __future__ import annotations
import sys, os, gc, time, collections, tokenize, io, warnings
from concurrent.futures import ProcessPoolExecutor
from bench import python_oracle as oracle
from concordance.extract.engine import extract

def one(path):
    warnings.simplefilter("ignore")
    gc.disable()
    try:
        data=open(path,'rb').read()
        enc,_=tokenize.detect_encoding(io.BytesIO(data).readline)
        text=data.decode(enc)
    except Exception as e: return path,None
    if text.startswith('\ufeff'): text=text[1:]
    tree=oracle.parse(text)
    if tree is None: return path,None
    facts=extract(text,'python')
    out={'reader':[f.message for f in facts.findings if f.by=='reader'],'errors':sum(f.by=='syntax' for f in facts.findings)}
    a,b=oracle.definitions(tree),oracle.our_definitions(facts)
    out['n']=sum(a.values()); out['missing']=list((a-b).elements()); out['invented']=list((b-a).elements())
    future=any(isinstance(n,__import__('ast').ImportFrom) and n.module=='__future__' and any(x.name=='annotations' for x in n.names) for n in tree.body)
    try:
        a,b=oracle.bindings(text),oracle.our_bindings(facts,future)
    except SyntaxError: return path,out
    out['names']=sum(len(k[1])*v for k,v in a.items())
    miss=list((a-b).elements()); inv=list((b-a).elements())
    out['bmiss']=miss; out['binv']=inv
    return path,out
if __name__=='__main__':
    files=[]
    for r in sys.argv[1:]:
        if os.path.isfile(r): files.append(r)
        for d,_,fs in os.walk(r): files+= [os.path.join(d,f) for f in fs if f.endswith(('.py','.pyi'))]
    T=collections.Counter(); shown=0
    with ProcessPoolExecutor(2) as ex:
        for path,o in ex.map(one,files,chunksize=16):
            if o is None: T['unparsed']+=1; continue
            T['files']+=1; T['n']+=o['n']; T['names']+=o.get('names',0)
            T['missing']+=len(o['missing']); T['invented']+=len(o['invented']); T['errorfiles']+=bool(o['errors'])
            T['bscopes']+=len(o.get('bmiss',()))
            if (o['missing'] or o['invented'] or o['reader'] or o.get('bmiss')) and (shown<60 or o['missing'] or o['invented']):
                shown+=1
                print('=='+('D' if o['missing'] or o['invented'] else '')+('E' if o['errors'] else ''),path,'errors',o['errors'],o['reader'][:1]); print('  missing',o['missing'][:3]); print('  invented',o['invented'][:3])
                for m,i in list(zip(o.get('bmiss',()),o.get('binv',()))):
                    # pair smartly
                    best=min(o['binv'],key=lambda q:(q[0]!=m[0])*100+len(q[1]^m[1]))
                    print('  bind',m[0],'theirs',sorted(m[1]-best[1])[:4],'ours',best[0],sorted(best[1]-m[1])[:4])
    print(dict(T))
