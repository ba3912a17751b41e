#ifndef ABACUS_EXPORT_H
#define ABACUS_EXPORT_H
#if defined(_WIN32)
#define ABACUS_API __declspec(dllexport)
#else
#define ABACUS_API __attribute__((visibility("default")))
#endif
#define ABACUS_MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
