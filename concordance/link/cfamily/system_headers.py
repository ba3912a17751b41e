"""Headers that come with a compiler or an operating system, and families of well-known library headers.

In: the text of an include. Out: the header's owner. The lists cover C and C++ (up to C++26), POSIX and the additions of
its systems, compiler intrinsics, Windows and Apple; a system folder (`sys/`) covers everything in it.
"""

from __future__ import annotations

# fmt: off
C_HEADERS = frozenset((
    "assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h", "iso646.h", "limits.h",
    "locale.h", "math.h", "setjmp.h", "signal.h", "stdalign.h", "stdarg.h", "stdatomic.h", "stdbit.h", "stdbool.h",
    "stdckdint.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "stdnoreturn.h", "string.h", "tgmath.h",
    "threads.h", "time.h", "uchar.h", "wchar.h", "wctype.h",
))
CPP_HEADERS = frozenset((
    "algorithm", "any", "array", "atomic", "barrier", "bit", "bitset", "cassert", "ccomplex", "cctype", "cerrno",
    "cfenv", "cfloat", "charconv", "chrono", "cinttypes", "ciso646", "climits", "clocale", "cmath", "codecvt",
    "compare", "complex", "concepts", "condition_variable", "contracts", "coroutine", "csetjmp", "csignal",
    "cstdalign", "cstdarg", "cstdbool", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring", "ctgmath", "ctime",
    "cuchar", "cwchar", "cwctype", "debugging", "deque", "exception", "execution", "expected", "filesystem",
    "flat_map", "flat_set", "format", "forward_list", "fstream", "functional", "future", "generator", "hash_map",
    "hash_set", "hazard_pointer", "hive", "initializer_list", "inplace_vector", "iomanip", "ios", "iosfwd",
    "iostream", "istream", "iterator", "latch", "limits", "linalg", "list", "locale", "map", "mdspan", "memory",
    "memory_resource", "mutex", "new", "numbers", "numeric", "optional", "ostream", "print", "queue", "random",
    "ranges", "ratio", "rcu", "regex", "scoped_allocator", "semaphore", "set", "shared_mutex", "simd",
    "source_location", "span", "spanstream", "sstream", "stack", "stacktrace", "stdexcept", "stdfloat", "stop_token",
    "streambuf", "string", "string_view", "strstream", "syncstream", "system_error", "text_encoding", "thread",
    "tuple", "type_traits", "typeindex", "typeinfo", "unordered_map", "unordered_set", "utility", "valarray",
    "variant", "vector", "version",
))
_POSIX = frozenset((
    "a.out.h", "aio.h", "aliases.h", "alloc_util.h", "alloca.h", "ar.h", "argp.h", "argz.h", "arpa/inet.h",
    "byteswap.h", "cpio.h", "crypt.h", "curses.h", "dbm.h", "dirent.h", "dlfcn.h", "elf.h", "endian.h", "envz.h",
    "err.h", "error.h", "execinfo.h", "fcntl.h", "features.h", "fmtmsg.h", "fnmatch.h", "fpu_control.h", "fstab.h",
    "fts.h", "ftw.h", "gconv.h", "getopt.h", "glob.h", "gnu-versions.h", "grp.h", "gshadow.h", "iconv.h", "ifaddrs.h",
    "ioctl.h", "kvm.h", "langinfo.h", "libgen.h", "libintl.h", "libutil.h", "link.h", "malloc.h", "memory.h",
    "mntent.h", "monetary.h", "mqueue.h", "ncurses.h", "ndbm.h", "net/if.h", "netdb.h", "nl_types.h", "nlist.h",
    "nss.h", "obstack.h", "paths.h", "poll.h", "printf.h", "proc_service.h", "pthread.h", "pthread_np.h", "pty.h",
    "pwd.h", "regex.h", "resolv.h", "sched.h", "search.h", "semaphore.h", "shadow.h", "spawn.h", "stab.h",
    "stdio_ext.h", "strings.h", "stropts.h", "syscall.h", "sysexits.h", "syslimits.h", "syslog.h", "tar.h", "term.h",
    "termcap.h", "termios.h", "thread_db.h", "trace.h", "ttyent.h", "ucontext.h", "ulimit.h", "unistd.h", "ustat.h",
    "util.h", "utime.h", "utmp.h", "utmpx.h", "uuid.h", "values.h", "varargs.h", "wait.h", "wordexp.h",
))
_COMPILER = frozenset((
    "adxintrin.h", "altivec.h", "ammintrin.h", "arm_acle.h", "arm_bf16.h", "arm_fp16.h", "arm_mve.h", "arm_neon.h",
    "arm_sme.h", "arm_sve.h", "avx2intrin.h", "avx512fintrin.h", "avxintrin.h", "bmi2intrin.h", "bmiintrin.h",
    "cpuid.h", "cxxabi.h", "emmintrin.h", "f16cintrin.h", "fma4intrin.h", "fmaintrin.h", "htmintrin.h",
    "ia32intrin.h", "immintrin.h", "intrin.h", "lasxintrin.h", "lsxintrin.h", "lzcntintrin.h", "mm3dnow.h",
    "mm_malloc.h", "mmintrin.h", "msa.h", "nmmintrin.h", "omp-tools.h", "omp.h", "ompt.h", "pmmintrin.h",
    "popcntintrin.h", "ppu_intrinsics.h", "prfchwintrin.h", "quadmath.h", "rdseedintrin.h", "riscv_vector.h",
    "smmintrin.h", "spu_intrinsics.h", "tmmintrin.h", "unwind.h", "vecintrin.h", "wasm_simd128.h", "wmmintrin.h",
    "x86gprintrin.h", "x86intrin.h", "xmmintrin.h", "xopintrin.h",
))
_WINDOWS = frozenset((
    "accctrl.h", "aclapi.h", "atlbase.h", "audioclient.h", "avrt.h", "bcrypt.h", "cfgmgr32.h", "combaseapi.h",
    "comdef.h", "commctrl.h", "commdlg.h", "conio.h", "corecrt.h", "crtdbg.h", "d3d11.h", "d3d12.h", "dbghelp.h",
    "debugapi.h", "delayimp.h", "direct.h", "dwmapi.h", "dxgi.h", "eh.h", "errhandlingapi.h", "eventtoken.h",
    "evntprov.h", "evntrace.h", "excpt.h", "exdisp.h", "fileapi.h", "functiondiscoverykeys_devpkey.h", "guiddef.h",
    "handleapi.h", "hidsdi.h", "initguid.h", "intsafe.h", "io.h", "iphlpapi.h", "ksmedia.h", "lm.h", "lmaccess.h",
    "lmcons.h", "mbstring.h", "memoryapi.h", "mfapi.h", "mferror.h", "mfidl.h", "minwindef.h", "mmdeviceapi.h",
    "mmsystem.h", "mshtml.h", "mswsock.h", "natupnp.h", "netioapi.h", "new.h", "ntddk.h", "ntstatus.h", "objbase.h",
    "ole2.h", "oleauto.h", "olectl.h", "pdh.h", "pdhmsg.h", "powrprof.h", "process.h", "processthreadsapi.h",
    "propidl.h", "propsys.h", "propvarutil.h", "psapi.h", "richedit.h", "rpc.h", "sal.h", "schannel.h", "sddl.h",
    "sdkddkver.h", "security.h", "setupapi.h", "share.h", "shellapi.h", "shlobj.h", "shlwapi.h", "sspi.h",
    "strsafe.h", "synchapi.h", "sysinfoapi.h", "tchar.h", "timezoneapi.h", "tlhelp32.h", "unknwn.h", "userenv.h",
    "uxtheme.h", "vcruntime.h", "versionhelpers.h", "wdm.h", "winapifamily.h", "winbase.h", "wincodec.h", "wincon.h",
    "wincrypt.h", "windef.h", "windows.h", "windowsx.h", "winerror.h", "wingdi.h", "winioctl.h", "winnls.h",
    "winnt.h", "winreg.h", "winsock.h", "winsock2.h", "winsvc.h", "winternl.h", "winuser.h", "winver.h", "ws2def.h",
    "ws2tcpip.h", "wtsapi32.h", "wtypes.h",
))
_APPLE = frozenset((
    "AssertMacros.h", "Availability.h", "AvailabilityInternal.h", "AvailabilityMacros.h", "ConditionalMacros.h",
    "DiskArbitration.h", "MacTypes.h", "TargetConditionals.h", "_types.h", "asl.h", "copyfile.h", "crt_externs.h",
    "launch.h", "libproc.h", "membership.h", "nameser.h", "notify.h", "removefile.h", "sandbox.h", "simd.h",
    "simd/simd.h", "vis.h", "xlocale.h", "xpc.h",
))
_SYSTEM_FOLDERS = frozenset((
    "IOKit", "altq", "arpa", "bits", "cppwinrt", "dispatch", "experimental", "ext", "fuzzer", "gnu", "i386", "isofs",
    "libkern", "mach", "mach-o", "machine", "malloc", "miscfs", "net", "netinet", "netinet6", "netipx", "netpacket",
    "netrom", "nfs", "objc", "oncrpc", "os", "pexpert", "ppl", "ppltasks", "protocols", "pstl", "ptrauth", "rpc",
    "rpcsvc", "sanitizer", "scsi", "sys", "tr1", "tr2", "ufs", "vfs", "winrt", "wrl", "x86_64", "xpc", "xray",
))
_KERNEL_FOLDERS = frozenset(("asm", "asm-generic", "linux"))
_FRAMEWORKS = frozenset((
    "AVFAudio", "AVFoundation", "AVKit", "Accelerate", "AddressBook", "AppKit", "ApplicationServices",
    "AssetsLibrary", "AudioToolbox", "AudioUnit", "AuthenticationServices", "BackgroundTasks", "CFNetwork", "Carbon",
    "CloudKit", "Cocoa", "Combine", "Contacts", "CoreAudio", "CoreBluetooth", "CoreData", "CoreFoundation",
    "CoreGraphics", "CoreImage", "CoreLocation", "CoreMIDI", "CoreML", "CoreMedia", "CoreMotion", "CoreServices",
    "CoreSpotlight", "CoreTelephony", "CoreText", "CoreVideo", "CoreWLAN", "CryptoKit", "DiskArbitration", "EventKit",
    "ForceFeedback", "Foundation", "GLKit", "GSS", "GameController", "GameKit", "HealthKit", "HIToolbox",
    "ImageCaptureCore", "ImageIO", "IOBluetooth", "IOSurface", "Intents", "JavaScriptCore", "LocalAuthentication",
    "MLCompute", "MapKit", "MediaPlayer", "MessageUI", "Metal", "MetalKit", "MetalPerformanceShaders",
    "MetalPerformanceShadersGraph", "MobileCoreServices", "ModelIO", "MultipeerConnectivity", "NaturalLanguage",
    "NetworkExtension", "Network", "OSLog", "OpenAL", "OpenCL", "OpenDirectory", "OpenGL", "OpenGLES", "PDFKit",
    "Photos", "PhotosUI", "PushKit", "QuartzCore", "QuickLook", "QuickTime", "ReplayKit", "SafariServices",
    "SceneKit", "ScriptingBridge", "Security", "ServiceManagement", "Social", "SpriteKit", "StoreKit",
    "SystemConfiguration", "UIKit", "UniformTypeIdentifiers", "UserNotifications", "UserNotificationsUI",
    "VideoToolbox", "Vision", "WatchKit", "WebKit", "WidgetKit", "XCTest",
))
# fmt: on
_GROUPS = (
    (C_HEADERS, "C"),
    (CPP_HEADERS, "C++"),
    (_POSIX, "POSIX"),
    (_COMPILER, "compiler"),
    (_WINDOWS, "Windows"),
    (_APPLE, "Apple"),
)  # fmt: skip
_FAMILIES = (  # by prefixes of their headers' names
    ("CUDA", (
        "cuda", "cublas", "cudnn", "cufft", "curand", "cusparse", "cusolver", "cupti", "cutensor", "nvrtc", "nvml",
        "nvtx", "nvToolsExt", "nvjpeg", "nvfunctional", "nccl", "thrust/", "cub/", "cooperative_groups", "cuComplex",
        "driver_types.h", "vector_types.h", "vector_functions.h", "device_launch_parameters.h", "library_types.h",
        "device_functions.h", "math_constants.h",
    )),
    ("ROCm", (
        "hip/", "hipblas", "hipfft", "hiprand", "hipsparse", "hipsolver", "hipcub", "rocblas", "rocfft", "rocrand",
        "rocm", "rocprim", "rocsolver", "rocsparse", "rocthrust", "rccl", "miopen", "roctracer",
    )),
    ("Python", ("Python.h", "structmember.h", "frameobject.h", "pythread.h", "pyconfig.h", "patchlevel.h")),
    ("Java", ("jni.h", "jvmti.h", "jawt")),
    ("MKL", ("mkl.h", "mkl_")),
    ("protobuf", ("google/protobuf/",)),
)  # fmt: skip


def standard_group(words: str) -> str:
    """Return the group of standard headers that an include belongs to, or ""."""
    for headers, group in _GROUPS:
        if words in headers:
            return group
    lower = words.lower()
    if lower in _WINDOWS:
        return "Windows"
    first, slash, _ = words.partition("/")
    if not slash:
        return ""
    if first in _SYSTEM_FOLDERS:
        return "system"
    if first in _FRAMEWORKS:
        return "Apple"
    return ""


def is_kernel_header(words: str) -> bool:
    """True if an include is a kernel header: the kernel's own source has it, for all others it is the system's."""
    return words.partition("/")[0] in _KERNEL_FOLDERS


def known_library(words: str) -> str:
    """Return the well-known library that a header belongs to, or ""."""
    return next((name for name, starts in _FAMILIES if words.startswith(starts)), "")


def library_name(words: str) -> str:
    """Return a name for the library that a header belongs to."""
    first, slash, _ = words.partition("/")
    return known_library(words) or (first if slash else first.partition(".")[0])
