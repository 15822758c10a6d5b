/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.h - which sanitizer is at work, for the few cases that it forbids
 */
#ifndef TEST_SANITIZER_H
#define TEST_SANITIZER_H

#ifdef __has_feature
#define SANITIZER_FEATURE_(x) __has_feature(x)
#else
#define SANITIZER_FEATURE_(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SANITIZER_FEATURE_(address_sanitizer)
#define TEST_ASAN 1
#else
#define TEST_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || SANITIZER_FEATURE_(thread_sanitizer)
#define TEST_TSAN 1
#else
#define TEST_TSAN 0
#endif

#endif
