"""English word lists for an index: the words that it leaves out, and the singular of plurals.

`STOP` words (conjunctions, pronouns, qualifiers) end a phrase and are never an entry. `VERBS` are neither an entry
nor part of one. `MODIFIERS` may start a phrase or be inside it, but not end it. `GENERAL` nouns may be anywhere in a
phrase. No entry consists of modifiers and general nouns alone. Words of other languages are in no list and are
therefore kept.
"""

from __future__ import annotations

_STOP = """
a able about above absolute acceptable accordingly across actual actually additional additionally adequate adjacent
after afterwards again against ago ahead aka alike all almost alone along already also alternatively although always
am ambiguous among an and annoying another any anybody anyhow anymore anyone anything anyway anywhere apart apparent
appropriate appropriately approximately arbitrarily arbitrary are aren't arent arg argc args argv around as aside
assert async at automatically available await aware away back bar based basic basically baz be became because become
becomes becoming been before beforehand behind being below beneath beside besides best better between beyond big bit
bool both brand-new briefly broadly broken buf but by came can can't cannot cant capable careful carefully
case-by-case casual certain certainly cf cfg char cheap cheaper clean clear clearly close closest cls cnt com come
comes coming common commonly compatible complete completely complex conceptual concern concrete concretely confusing
consequently conservative considerable consistent consistently const constexpr convenient conveniently conversely
copyright correct correctly corresponding could couldn't couldnt couple crucial ctx cur curr current currently
dangerous de deal dealing decent deeply def defaults definitely desirable desired despite dest detailed did didn't
didnt different difficult directly dirty disable disabled distinct ditto do does doesn't doesnt doing don don't done
dont down dst due during e.g each eager earlier earliest early easier easiest easily easy effectively efficient
efficiently eg eight either elem elems elif else elsewhere empty en enable enabled end endif enough entire entirely
equal equally equivalent equivalently especially essential essentially et etc even eventual eventually ever every
everybody everyone everything everywhere evident ex exact exactly example except exceptional excessive exclusive
existing expected expensive explicitly extra extraneous extreme fairly false familiar far faster favor favorite
feasible few fifth final finally fine first firstly five fixme flake8 flexible fmt fn follow followed following
follows foo for former formerly four free frequently fresh friendly from func fundamental funny further furthermore
futile gave general generally genuine get gets getting github gitlab give given gives giving go goes going gone good
got gotten great greater hack hacky had hadn't half handful handy happen happened happening happens happy hard harder
hardly harmless has hasn't hasnt have haven't havent having he heavily heavy hello help helpful hence her here
hereafter hereby herein hereinafter heres hers herself hi higher him himself his historical hopefully how however href
huge hypothetical i i.e id ideal ideally identical idx ie if ifdef ifndef ignore ignored ii ill
immediate immediately impl implicitly important impossible in inappropriate inc include included includes including
incompatible inconsistent incorrect incorrectly indeed independently indirectly individual inefficient informal init
initial initially innocent inside instead int intact intended intentional interesting internally into intuitive
invalid involve involved inward irrelevant is isn't isnt isort it it'd it'll it's its itself just keep keeping keeps
kept kind knew know known knows kwarg kwargs la laborious lambda large larger last lastly later latest latter least
legal legitimate len lengthy less lest let let's lets lhs licence license light like liked likely lint little ll
locally logical long longer look looked looking looks loose lossy lot lots ltd made main mainly major make makes
making mandatory manual manually many massive maximum may maybe me mean meaning meaningful meaningless means meant
meanwhile merely mid might mine minimal minimum minor misc missing moderate modern moment more moreover most mostly
msg msgs much multiple must mutual my mypy myself naive naively namely nasty naturally nb near nearly neat necessarily
necessary need needed needing needs negative neither never nevertheless new newer newest next nice nicely nil nine no
nobody noisy nolint nolintnextline non none nonetheless nontrivial noone noqa nor normal normally not note noted notes
nothing notice noticeable now nowhere null nullptr num numerous nums obj obsolete obtained obvious obviously
occasionally odd of off often oh ok okay old older oldest on once one ones only onto opportunity opposite optionally
or ordinary org original originally other others otherwise ought our ours ourselves out outdated outside over overall
overly own painful partially particular particularly pass per perfect perhaps permanent permanently pessimistic plain
please plus pointless poor popular pos positive possible possibly potential potentially practically pragma
pre-existing precisely preferable present presumably pretty prev previous previously primarily prior probably
problematic prone proper properly proposed provide provided provides providing ps ptr purely put puts pylint pyre
pyrefly questionable quick quickly quite qux rare rarely rather re readily ready real really reason reasonable
reasonably recent recently redundant regard regarded regarding regardless related relative relatively relevant
reliable reliably remaining reminiscent repeated repeatedly required res reserved resp respective respectively
responsible rest resulting ret rhs rights robust rough roughly rude safe safely said same sane saw say saying says
scary scenario second secret see seeing seem seemed seems seen self self-explanatory semantically sensible sensitive
separate separately serious seriously seven several severe shall she short shorter shortest should shouldn't shouldnt
significant significantly silent silently silly similar similarly simple simpler simplest simply since single six
slightly slower small smaller smart so so-called soft sole solely some somebody somehow someone something sometime
sometimes somewhat somewhere soon sophisticated sort sparing spdx special specific specifically specified spurious src
stale standard still str straightforward strange strictly strong stronger strongly stuff stupid sub subject subsequent
subsequently substantial subtle successful such suddenly sufficient sufficiently suitable super superfluous supposed
sure surely surprising suspicious take taken takes taking tbd tedious tell temp temporary ten tend th than thank
thanks that that's thats the their theirs them themselves then thence there thereafter thereby therefore therein
theres these they they're thing things think third this thorough thoroughly those though thought three through
throughout thru thus tight tiny tmp to today todo together told tomorrow too took totally tough toward towards tricky
tried tries trivial trivially true true-ish truly try trying twice two typename typical typically ugly uint unable
unambiguous unavailable unchanged unclear undefined under underneath undesirable unexpected unfortunate unfortunately
uninteresting unknown unless unlike unlikely unnecessary unneeded unrelated unsafe unspecified unsupported unsure
untested until unused up upcoming upon urgent us usable use used useful useless user-facing uses using usual usually
util utils vague val valid vals var various vars vast ve ver versa very via viable vice visible viz void vs want
wanted wanting wants was wasn't way ways we we're weird well went were weren't what whatever whats whatsoever when
whence whenever where whereas whereby wherein wherever whether which whichever while who whoever whole whole-sale whom
whose why wide widely wider will willing wip wish with within without won't wonder wont worse worst worth would
wouldn't wouldnt wrong www xxx yes yet yield you you're your yours yourself yourselves zero
"""

_MODIFIERS = """
custom deep default double dynamic explicit external fast fixed full fully global hidden high immutable implicit
independent inner internal left local low lower max min mutable native optional outer partial post pre private public
pure random raw right shared slow static strict unique upper weak
"""

_VERBS = """
occupy
accelerate accept accepting accepts accesses accessing accommodate accomplish accumulate achieve achieves acquire act
adapt add added adding adds adjust affect affects agree aim allocate allow allowed allowing allows alter analyze
annotate appear appears append appended appending appends applied applies apply applying arise arrange ask asks
assemble assign assigned assigning assigns associate assume assumed assumes assuming attach attached attempt attempted
attempts augment avoid avoided avoiding avoids bail behave behaves belong belongs blow bother breaks bring brings
builds built bump bypass calculate called calling calls cancel capture captured captures care carry catch catches
cause caused causes causing changed changes changing checked checking checks choose chooses chosen clarify cleanup
cleared clears coerce collect collects combine combines communicate compare compared compares comparing compose
compress compute computed computes computing concatenate conclude configure confirm conform confuse connect consider
considered considering consist consists construct constructed constructing constructs consult consume consumes contain
contained containing contains continue continues contribute controls convert converted converting converts coordinate
copied copies correspond corresponds counted create created creates creating customize deallocate decide decided
decides declare declared declares decode decompose decorate decorated decouple decrease deduce deduplicate define
defined defines defining delegate delegates delete deleted deletes demonstrate denote denotes depend depending depends
deprecate dequeue derive derived describe described describes deserialize deserve destroy destroyed destruct detach
detect detected detecting detects determine determined determines determining differ differs disallow disambiguate
discard discarded discover dispatches displays distinguish distribute divide drop dropped drops dumps duplicate embed
emit emits emitted emulate enables encapsulate encode encounter encountered enforce enforces enqueue ensure ensured
ensures ensuring enter entered enters enumerate equals establish evaluate evaluated exceed exceeds exclude excluded
execute executed executes executing exist exists exits expand expanded expect expecting expects explain explains
exploit explore expose exposed exposes extend extended extends extract extracted extracts fail failed failing fails
fall falls fill filled fills finalize find finding finds finish finished fit fits fix flatten force forced forces
forget forms forwards found freed fulfill gathered generalize generate generated generates generating grab grow
guarantee guaranteed guarantees handled handles handling hide hits holding holds honor hope identify ignores ignoring
illustrate imagine implement implemented implementing implements implies imply imported importing imports improve
incorporate increase increased increases indicate indicated indicates indicating infer inferred infers inform inherit
inherits initialize initialized initializes initializing inject insert inserted inserting inserts inspect install
installed installing instantiate instantiated integrate intend interact intercept interpret introduce introduced
invalidate invoke invoked invokes invoking isolate iterate iterates iterating justify lead leads learn leaves leaving
leverage lie lies limited listed lists live lives loaded loading loads localize locate logged logs lose loses lost
maintain maintained maintains manage managed manages manipulate marked marks matched matches matching materialize
matter matters meet memoize mention mentioned merged merges migrate mimic minimize mitigate modified modifies modify
modifying moved moves moving mutate mutated named negate normalize notify obey obtain obtains occur occurred occurs
offers omit omitted open opens operate operates optimize ordered organize outweigh overridden overrides overwrite
owned owns parsed parses participate passed passes passing perform performed performing performs permit persist
perturb picked picks placed pointed points populate populated postpone preclude precompute prefer preferred prepare
prepares prepend preserve preserved preserves prevent prevents printed printing prints proceed processed produce
produced produces producing promote propagate propagated protect prove prune pushed quantify quit raise raised raises
raising reach reached reaches reads receive received receives recognize recommend recommended recompute reconcile
reconsider reconstruct recorded records recover recreate recurse redirect redistribute redo reduced refactor refer
referred refers refine reflect refuse regenerate register registered registering registers reimplement reinterpret
reject relate released releases relies reload rely relying remain remains remap remember remove removed removes
removing rename reorder reorganize replace replaced replaces replacing reported reports represent represented
representing represents reprocess reproduce requests require requires requiring resemble reside resolve resolved
resolves respond restore restored restores restrict resulted results resume retain rethrow retrieve retrieved
retrieves retry returned returning returns reuse reused reveal revert revisit rework running runs satisfies satisfy
saved saves saving seek selected selects send sending sends sent serialize serve serves sets setup shares shorten
showing shown shows shrink shuffle shut simplify simulate sit skipped skips solve sorted specifies specify specifying
speculate splits squeeze stand stands started starting starts stash stated states stay stays stick stopped stops
stored stores storing submit substitute subtract succeed succeeds suffer suggest suggests summarize supply supported
supporting supports suppose suppress surround synchronize talk teach tells terminate tested testing tests thrown
throws toggle tokenize traced tracked tracks transformed translate traverse treat treated treats triggered triggers
truncate turned turns tweak undo unify uninstall unpack unregister unset unwind unwrap upcast updated updates updating
upgrade upload utilize validate validated validates vary verified verifies verify verifying violate waiting waits warn
warns withdraw worked working works worry wrapped wrapping wraps writes writing written wrote yielded yields
"""

_GENERAL = """
ability access account action addition aggregate algorithm amount app approach area argument array aspect assumption
attention attribute author base beginning behavior behaviour benefit binary bind block body boolean bottom box break
bug build byte call callable caller case cast category chance change character check child choice claim class code
collection column combination command comment comparison compile component computation concept condition configuration
consequence constant constraint construction container content context contrast control convention conversion copy
core correctness cost count course cover creation data date day declaration definition delay description design detail
dict dictionary difference dim dimension direction directory discussion dispatch display doc docs docstring
documentation dump effect effort element entity entry enum environment equality error evaluation event exception
execution existence exit export expression extension extent fact fashion feature feed fetch field file filename flag
float flow flush folder fork form format forward function functionality future gather goal group guard guess handle
header helper hint history hit hold hook hour idea identifier implementation import increment indicator info
information initialization inline input instance instruction integer interest interface issue item iterable iteration
iterator job join key keyword language layer layout leave length letter level library limit limitation line link list
load location log logic loop macro manner map mapping mark match measure member merge message method middle mind
minute mirror mode modification module monitor month move name namespace nature number object offer operation option
order output overflow overhead overlap overload override pack pair param parameter parent parse part party patch path
pattern pause people performance person phase pick piece place placeholder plan play point pointer pop portion
position possibility practice precedence prefix presence print problem procedure process profile program project
property pull purpose push quality quantity query question range rank ratio read reader reading reality record reduce
reference refresh region relation release render repeat report representation request requirement reset resize
resource respect response responsibility restriction result return reverse review rewrite role root round row rule run
runtime sake sample save scale scan schedule scheme scope script search section select sentence separator sequence
series set setting shape share shift show side sign signal signature situation size skip sleep slot software solution
source space spawn spec specification split stage start state statement status step stop storage store strategy stream
string strip structure style subclass subset subtype suffix suggestion sum superclass support swap switch symbol
syntax system table tag target task technique template term test text throw time timing title tool top total touch
trace track transfer transform transition tree trick trigger trim tuple turn type unit update usage user value
variable variant vector version view visit wait walk warning watch week wise word work workaround world wrap wrapper
write year zip
"""

# Words that are nouns elsewhere, but verbs at the start of a phrase, which is then an instruction.
IMPERATIVES = frozenset(
    (
        "set",
        "reset",
        "save",
        "support",
        "copy",
        "free",
        "schedule",
        "load",
        "cast",
        "run",
        "check",
        "update",
        "print",
        "return",
        "clear",
        "dump",
        "read",
        "write",
        "test",
        "move",
        "share",
        "match",
        "build",
        "select",
        "skip",
        "show",
    )
)
STOP = frozenset(_STOP.split())
MODIFIERS = frozenset(_MODIFIERS.split())
VERBS = frozenset(_VERBS.split())
GENERAL = frozenset(_GENERAL.split())

_NOT_PLURAL = frozenset(
    (
        "lens",
        "series",
        "species",
        "news",
        "means",
        "kubernetes",
        "pandas",
        "numerics",
        "redis",
        "windows",
        "aws",
        "macos",
        "chaos",
        "kudos",
        "cosmos",
        "yes",
        "perhaps",
        "always",
        "ios",
        "cos",
        "nos",
        "acos",
    )
)
_IRREGULAR = {
    "indices": "index", "indexes": "index", "matrices": "matrix", "vertices": "vertex", "children": "child",
    "axes": "axis", "bases": "base", "caches": "cache", "biases": "bias", "aliases": "alias", "statuses": "status",
    "buses": "bus", "analyses": "analysis", "hypotheses": "hypothesis", "leaves": "leaf", "halves": "half",
    "criteria": "criterion", "people": "person", "cookies": "cookie", "movies": "movie", "ties": "tie", "dies": "die",
    "parentheses": "parenthesis", "theses": "thesis", "viruses": "virus", "kernels": "kernel", "suffices": "suffice",
    "heuristics": "heuristic", "metrics": "metric", "topics": "topic", "intrinsics": "intrinsic", "atomics": "atomic",
    "generics": "generic", "toolchains": "toolchain", "gas": "gas", "canvases": "canvas", "zeroes": "zero",
}  # fmt: skip


def singular(word: str) -> str:
    """Return the singular of a lower-case word, as far as its ending shows."""
    if word[-1] != "s" or len(word) < 4:
        return _IRREGULAR.get(word, word)
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _NOT_PLURAL or word.endswith(("ss", "us", "is", "as", "ics")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "xes", "ches", "oes")):
        return word[:-2]
    return word[:-1]
