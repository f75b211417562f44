/* A part of test_media that has a file of its own: runs its tests, returns how many failed. */
#ifndef TESTS_UNIT_TRANSFORMS_MEDIA_RECORDINGS_H
#define TESTS_UNIT_TRANSFORMS_MEDIA_RECORDINGS_H

int media_recordings_run(void);

#endif
