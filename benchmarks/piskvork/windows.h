// The functions of Windows that Pela 7.9 and Carbon 2.3 call, for Linux. docs/developing/experiments.md has the commands.
#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string.h>
#include <thread>

typedef uint32_t DWORD;
typedef uint64_t DWORD64;
#define WINAPI
#define FALSE 0
#define TRUE 1
typedef void *LPVOID;
#define INFINITE 0
#define UInt32x32To64(a, b) ((uint64_t)(uint32_t)(a) * (uint32_t)(b))
#define STD_INPUT_HANDLE 0
#define _strnicmp strncasecmp
#define _stricmp strcasecmp
#define _atoi64 atoll
#define __max(a, b) ((a) > (b) ? (a) : (b))
#define __min(a, b) ((a) < (b) ? (a) : (b))
using std::max;
using std::min;

struct Event {
    bool manual, set;
    std::mutex mutex;
    std::condition_variable changed;
};
typedef Event *HANDLE;

inline HANDLE CreateEvent(int, int manual, int set, int) {
    HANDLE event = new Event;
    event->manual = manual, event->set = set;
    return event;
}
inline void SetEvent(HANDLE event) {
    std::lock_guard<std::mutex> lock(event->mutex);
    event->set = true;
    event->changed.notify_all();
}
inline void ResetEvent(HANDLE event) {
    std::lock_guard<std::mutex> lock(event->mutex);
    event->set = false;
}
inline void WaitForSingleObject(HANDLE event, int) {
    std::unique_lock<std::mutex> lock(event->mutex);
    event->changed.wait(lock, [&] { return event->set; });
    if (!event->manual) event->set = false;
}
inline void CreateThread(int, int, DWORD (*run)(void *), int, int, DWORD *) { std::thread(run, nullptr).detach(); }
// CPU time of the process, so that a time limit means the same on a busy machine.
inline DWORD GetTickCount() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1000000 + now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
inline int GetStdHandle(int) { return 0; }
inline int GetConsoleMode(int, DWORD *) { return 0; }
