#include "tests/unit/index_answers/told_locks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

int told_made_locks, told_held_locks;
unsigned told_signals, told_broadcasts;

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int
__wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    (void)mutex, (void)attributes;
    told_made_locks++;
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int
__wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    (void)mutex;
    assert_int_equal(told_held_locks, 0);
    told_made_locks--;
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int
__wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex;
    assert_int_equal(told_held_locks++, 0);
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    (void)mutex;
    assert_int_equal(told_held_locks--, 1);
    return 0;
}

int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int
__wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    (void)condition, (void)attributes;
    told_made_locks++;
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *condition);
int
__wrap_pthread_cond_destroy(pthread_cond_t *condition)
{
    (void)condition;
    told_made_locks--;
    return 0;
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int
__wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    (void)condition;
    told_signals++;
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);
int
__wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    (void)condition;
    told_broadcasts++;
    return 0;
}
