// The library of Windows that gives Rust's standard library its random numbers. Versions of wine before 8.13 have none, and
// no program starts there without it. `.ci/run platforms` compiles this in its place.

#include <windows.h>

// The older function for the same, which they have.
BOOLEAN NTAPI SystemFunction036(PVOID numbers, ULONG len);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE numbers, SIZE_T len)
{
    while (len > 0) {
        ULONG part = len < 65536 ? (ULONG)len : 65536;
        if (!SystemFunction036(numbers, part))
            return FALSE;
        numbers += part;
        len -= part;
    }
    return TRUE;
}
