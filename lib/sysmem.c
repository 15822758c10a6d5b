// SPDX-License-Identifier: MIT
#include "sysmem.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/*
 * Room for a mount with a very long path or very long options. Lines above
 * that are overlays of many layers; those of control groups are short.
 */
#define LINE_BYTES (4096 + PATH_MAX)

/* More than any number of 64 bits and its newline. */
#define NUMBER_BYTES 32

/* What a system that does not tell is taken for: enough to work, no risk. */
#define UNKNOWN_RAM_BYTES (UINT64_C(1) << 30)

#define NO_LIMIT UINT64_MAX

/* What the two versions of control groups do not share. */
struct version {
	const char *fstype;
	const char *controller; /* "" when a hierarchy serves all of them */
	const char *limit_file;
};

static const struct version versions[] = {
	{ "cgroup2", "", "/memory.max" },
	{ "cgroup", "memory", "/memory.limit_in_bytes" },
};

/* A file that is read line by line. buf[next .. end) is still to be given. */
struct lines {
	int fd;
	size_t next, end;
	char buf[LINE_BYTES];
};

struct path {
	size_t len;
	char text[PATH_MAX];
};

/* All that one search needs, so that its use of stack is seen in one place. */
struct search {
	const char *root;
	uint64_t limit;       /* the smallest so far */
	char group[PATH_MAX]; /* the process's, in the version's hierarchy */
	struct lines lines;
	struct path path;
};

/* False when it does not fit, as it would not for the kernel. */
static bool add(struct path *path, const char *s, size_t len)
{
	if (len >= sizeof(path->text) - path->len)
		return false;
	memcpy(path->text + path->len, s, len);
	path->len += len;
	path->text[path->len] = '\0';
	return true;
}

/* ---- files --------------------------------------------------------------- */

static int open_file(const char *path)
{
	int fd;

	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd;
}

static ssize_t read_some(int fd, char *buf, size_t len)
{
	ssize_t got;

	do
		got = read(fd, buf, len);
	while (got < 0 && errno == EINTR);
	return got;
}

static bool open_lines(struct search *s, const char *name)
{
	struct lines *in = &s->lines;

	in->next = 0;
	in->end = 0;
	s->path.len = 0;
	if (!add(&s->path, s->root, strlen(s->root)) ||
	    !add(&s->path, name, strlen(name)))
		return false;
	in->fd = open_file(s->path.text);
	return in->fd >= 0;
}

/* False at the end of the file, and when it can't be read further. */
static bool read_more(struct lines *in)
{
	size_t kept = in->end - in->next;
	ssize_t got;

	memmove(in->buf, in->buf + in->next, kept);
	in->next = 0;
	in->end = kept;
	got = read_some(in->fd, in->buf + kept, sizeof(in->buf) - kept);
	if (got <= 0)
		return false;
	in->end += (size_t)got;
	return true;
}

/* A line without its newline, or NULL: without one it is cut off. */
static char *take_line(struct lines *in)
{
	char *line = in->buf + in->next;
	char *newline = memchr(line, '\n', in->end - in->next);

	if (!newline)
		return NULL;
	*newline = '\0';
	in->next = (size_t)(newline + 1 - in->buf);
	return line;
}

/* The next line that fits into the buffer, or NULL after the last. */
static char *next_line(struct lines *in)
{
	bool too_long = false;

	for (;;) {
		char *line = take_line(in);

		if (line && !too_long)
			return line;
		if (line) { /* the end of what was dropped */
			too_long = false;
			continue;
		}
		if (in->end - in->next == sizeof(in->buf)) {
			too_long = true;
			in->next = in->end;
		}
		if (!read_more(in))
			return NULL;
	}
}

/* ---- one group ----------------------------------------------------------- */

/* "max" is no limit, like anything that is no number. */
static uint64_t parse_limit(const char *text, size_t len)
{
	uint64_t n = 0;

	if (len && text[len - 1] == '\n')
		len--;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || n > (UINT64_MAX - 9) / 10)
			return NO_LIMIT;
		n = n * 10 + (uint64_t)(text[i] - '0');
	}
	return len ? n : NO_LIMIT;
}

static uint64_t read_limit(const char *path)
{
	char text[NUMBER_BYTES];
	int fd = open_file(path);
	size_t len = 0;
	ssize_t got;

	if (fd < 0)
		return NO_LIMIT;
	do {
		got = read_some(fd, text + len, sizeof(text) - len);
		if (got > 0)
			len += (size_t)got;
	} while (got > 0 && len < sizeof(text));
	close(fd);
	/* Only a whole file can be believed: "10" may begin a large number. */
	return got == 0 ? parse_limit(text, len) : NO_LIMIT;
}

/* A group of a path that is too long is passed over; its parents count. */
static void see_group(struct search *s, const struct version *version,
		      const char *mount, const char *group, size_t group_len)
{
	const char *file = version->limit_file;
	uint64_t limit;

	s->path.len = 0;
	if (!add(&s->path, s->root, strlen(s->root)) ||
	    !add(&s->path, mount, strlen(mount)) ||
	    !add(&s->path, group, group_len) ||
	    !add(&s->path, file, strlen(file)))
		return;
	limit = read_limit(s->path.text);
	if (limit < s->limit)
		s->limit = limit;
}

/* From a group ("/a/b", "/" or "") up to the mount point, which is "". */
static void see_groups(struct search *s, const struct version *version,
		       const char *mount, const char *group)
{
	size_t len = strlen(group);

	for (;;) {
		while (len && group[len - 1] == '/')
			len--;
		see_group(s, version, mount, group, len);
		if (!len)
			return;
		while (group[len - 1] != '/')
			len--;
	}
}

/* ---- which groups -------------------------------------------------------- */

/* Whether a word stands in a list with commas; "" has the word "" in it. */
static bool has_word(const char *list, const char *word)
{
	size_t word_len = strlen(word);

	for (;;) {
		size_t len = strcspn(list, ",");

		if (len == word_len && !memcmp(list, word, len))
			return true;
		if (!list[len])
			return false;
		list += len + 1;
	}
}

/*
 * Lines are "hierarchy:controllers:path", and the path, which is not escaped,
 * may have colons of its own. The group stays "" when no line names it.
 */
static void find_group(struct search *s, const struct version *version)
{
	char *line;

	s->group[0] = '\0';
	if (!open_lines(s, "/proc/self/cgroup"))
		return;
	while ((line = next_line(&s->lines))) {
		const char *controllers;

		strsep(&line, ":");
		controllers = strsep(&line, ":");
		if (line && has_word(controllers, version->controller) &&
		    strlen(line) < sizeof(s->group))
			strcpy(s->group, line);
	}
	close(s->lines.fd);
}

/* Whether an octal escape for a byte, such as \040, stands here. */
static bool is_escape(const char *s)
{
	return s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
	       s[2] <= '7' && s[3] >= '0' && s[3] <= '7';
}

/* The list of mounts writes blanks and backslashes so, for it parts by them. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (is_escape(s)) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
				       (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

struct mount {
	char *root; /* the part of the hierarchy that is seen at the point */
	char *point;
};

/*
 * False for what is no mount of this version. Fields are "id parent device root
 * point options [more options] - type source superoptions"; the source may be
 * empty, so that each blank counts.
 */
static bool parse_mount(char *line, const struct version *version,
			struct mount *mount)
{
	const char *word, *fstype, *options;

	for (int i = 0; i < 3; i++)
		strsep(&line, " ");
	mount->root = strsep(&line, " ");
	mount->point = strsep(&line, " ");
	do
		word = strsep(&line, " ");
	while (word && strcmp(word, "-"));
	fstype = strsep(&line, " ");
	strsep(&line, " ");
	options = strsep(&line, " ");
	if (!options || strcmp(fstype, version->fstype))
		return false;
	unescape(mount->root);
	unescape(mount->point);
	return !*version->controller || has_word(options, version->controller);
}

static bool climbs(const char *path)
{
	while ((path = strstr(path, "/.."))) {
		path += 3;
		if (!*path || *path == '/')
			return true;
	}
	return false;
}

/*
 * The part of a group's path below a mount's root. A group that is not below it
 * is seen from outside: by a container that has the host's paths, or from above
 * the top of its own ("/.."). Then "", the mount point, is the nearest that can
 * be seen of the group.
 */
static const char *path_below(const char *group, const char *root)
{
	size_t len = strcmp(root, "/") ? strlen(root) : 0;

	if (strncmp(group, root, len) || (group[len] && group[len] != '/'))
		return "";
	return climbs(group + len) ? "" : group + len;
}

static void see_mounts(struct search *s, const struct version *version)
{
	struct mount mount;
	char *line;

	find_group(s, version);
	if (!open_lines(s, "/proc/self/mountinfo"))
		return;
	while ((line = next_line(&s->lines)))
		if (parse_mount(line, version, &mount))
			see_groups(s, version, mount.point,
				   path_below(s->group, mount.root));
	close(s->lines.fd);
}

uint64_t sysmem_limit(const char *root, uint64_t ram_bytes)
{
	int saved_errno = errno, saved_cancel;
	struct search s;

	s.root = root;
	s.limit = ram_bytes;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved_cancel);
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		see_mounts(&s, &versions[i]);
	pthread_setcancelstate(saved_cancel, NULL);
	errno = saved_errno;
	return s.limit;
}

uint64_t sysmem_bytes(void)
{
	int saved_errno = errno;
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	errno = saved_errno;
	if (pages <= 0 || page <= 0)
		return sysmem_limit("", UNKNOWN_RAM_BYTES);
	return sysmem_limit("", (uint64_t)pages * (uint64_t)page);
}
