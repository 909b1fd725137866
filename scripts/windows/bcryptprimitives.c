// Wine 8 lacks this DLL, and Rust's standard library imports one function of it: the bytes that seed a HashMap.
// A Windows has its own; this one serves tests alone.

#include <windows.h>
#include <bcrypt.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PUCHAR data, SIZE_T length) {
  return BCryptGenRandom(NULL, data, (ULONG)length, BCRYPT_USE_SYSTEM_PREFERRED_RNG) >= 0;
}
