// SPDX-License-Identifier: MIT
/*
 * live.c - corpora from the memory of running programs
 *
 * A program runs as a shell command in a process group of its own, so that a
 * compiler's driver, a pipe or a wrapper script change nothing: what is read is
 * the process of the group that holds the most memory. When it has enough, or
 * says that it is done, the group is stopped, read, and killed.
 *
 *	fork -> at work -> enough memory, -> SIGSTOP -> read -> SIGKILL
 *	                   a line, or
 *	                   time over
 *
 * As many run at once as there are processors. Signals that end this program
 * only set a flag while programs run; it is looked at every few milliseconds,
 * and then the same clean-up happens as at any exit.
 */
#include "live.h"

#include "bench.h"
#include "live_files.h"
#include "procmem.h"
#include "programs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM_PAGES 4096u        /* of each: 16 MiB */
#define LEAST_BYTES (1024u * 1024) /* less is not worth a corpus */
#define POLL_MS 10
#define MAX_RUNS 16

struct run {
	const struct program *program;
	char command[PATH_MAX];
	char folder[PATH_MAX];
	pid_t pid; /* and process group; 0 when not running */
	int out;   /* its standard output */
	uint64_t deadline_ns;
	char line[160];
	struct corpus corpus; /* without pages when nothing was read */
	int refused;          /* errno with which the system refused */
};

/* What must be cleaned up at any exit. */
static struct run runs[MAX_RUNS];
static size_t nr_runs;
static char temp_folder[PATH_MAX];
static volatile sig_atomic_t caught;

/* ---- cleaning up ------------------------------------------------------- */

static void end_run(struct run *run)
{
	if (!run->pid)
		return;
	kill(-run->pid, SIGKILL);
	while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(run->out);
	run->pid = 0;
}

static int remove_one(const char *path, const struct stat *st, int kind,
		      struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	remove(path);
	return 0;
}

/* Killed writers may be about to leave a last file behind: some attempts. */
static void remove_temp_folder(void)
{
	struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };

	for (int i = 0; i < 20 && *temp_folder; i++) {
		nftw(temp_folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		if (access(temp_folder, F_OK))
			*temp_folder = '\0';
		else
			nanosleep(&pause, NULL);
	}
}

static void clean_up(void)
{
	for (size_t i = 0; i < nr_runs; i++)
		end_run(&runs[i]);
	remove_temp_folder();
}

static const int fatal_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static void note_signal(int sig)
{
	caught = sig;
}

static void handle_signals(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(int); i++)
		sigaction(fatal_signals[i], &action, NULL);
}

/* Cleans up and ends as the signal would have. */
static void obey_signals(void)
{
	if (!caught)
		return;
	progress_clear();
	clean_up();
	handle_signals(SIG_DFL);
	raise(caught);
}

/* ---- starting ---------------------------------------------------------- */

static bool find_in(const char *folder, size_t len, const char *command,
		    char *path)
{
	struct stat st;

	if (!len) { /* an empty part of PATH means this folder */
		folder = ".";
		len = 1;
	}
	snprintf(path, PATH_MAX, "%.*s/%s", (int)len, folder, command);
	return !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* As a shell would find it. */
static bool find_command(const char *command, char *path)
{
	const char *at = getenv("PATH");

	if (!at)
		at = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t len = strcspn(at, ":");

		if (find_in(at, len, command, path))
			return true;
		if (!at[len])
			return false;
		at += len + 1;
	}
}

static bool find_program(const struct program *p, char *path)
{
	if (p->unless && find_command(p->unless, path))
		return false;
	for (size_t i = 0; p->commands[i]; i++)
		if (find_command(p->commands[i], path))
			return true;
	return false;
}

static void set_environment(const struct program *p, const char *seconds)
{
	setenv("WORK", p->work ? p->work : "", 1);
	setenv("FILES", program_files, 1);
	setenv("SECONDS_TO_WORK", seconds, 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	unsetenv("LD_PRELOAD"); /* it was meant for this program */
	unsetenv("GIT_DIR");
	unsetenv("GIT_WORK_TREE");
	unsetenv("GIT_INDEX_FILE");
	unsetenv("NODE_OPTIONS");
	unsetenv("PERL5OPT");
}

/* In the child. Dies with its parent, should that be killed outright. */
_Noreturn static void become(const struct run *run, const char *seconds,
			     int out, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	handle_signals(SIG_DFL);
	if (null < 0 || getppid() != parent || chdir(run->folder))
		_exit(127);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	set_environment(run->program, seconds);
	execl("/bin/sh", "sh", "-c", run->program->shell, run->command,
	      (char *)NULL);
	_exit(127);
}

static bool start(struct run *run, double seconds)
{
	char text[32];
	pid_t parent = getpid();
	int ends[2];

	snprintf(text, sizeof(text), "%.0f", seconds);
	snprintf(run->folder, sizeof(run->folder), "%.4000s/%s", temp_folder,
		 run->program->name);
	if (mkdir(run->folder, 0700) || pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return false;
	fcntl(ends[1], F_SETFL, 0); /* the child's end blocks as usual */
	run->pid = fork();
	if (!run->pid)
		become(run, text, ends[1], parent);
	close(ends[1]);
	if (run->pid < 0) {
		close(ends[0]);
		run->pid = 0;
		return false;
	}
	setpgid(run->pid, run->pid); /* whoever of the two comes first */
	run->out = ends[0];
	run->deadline_ns = now_ns() + (uint64_t)((seconds + 3) * 1e9);
	return true;
}

/* ---- the process that holds the memory --------------------------------- */

/* Process group of @pid, 0 when it is gone. */
static pid_t group_of(pid_t pid)
{
	pid_t group = getpgid(pid);

	return group > 0 ? group : 0;
}

/* The largest process of the run's group; 0 when /proc shows none. */
static pid_t largest(const struct run *run, size_t *bytes)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t best = 0;

	*bytes = 0;
	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atol(entry->d_name);
		size_t anon;

		if (pid <= 0 || group_of(pid) != run->pid)
			continue;
		anon = procmem_anon_bytes(pid);
		if (anon > *bytes) {
			best = pid;
			*bytes = anon;
		}
	}
	if (proc)
		closedir(proc);
	return best;
}

/* ---- taking ------------------------------------------------------------ */

/* Programs that print a line may still be at work when their time is over. */
static const char *doing(const struct run *run)
{
	if (*run->line)
		return run->line;
	return run->program->doing ? run->program->doing : "at work on files";
}

static void took(struct run *run, size_t resident)
{
	struct corpus *c = &run->corpus;

	c->name = bench_format("%s", run->program->name);
	c->origin = bench_format("%zu of %zu resident anonymous pages"
				 " (%zu MiB), %s %s",
				 c->nr_pages, resident,
				 resident * PAGE_BYTES >> 20,
				 *run->line ? "after" : "while",
				 doing(run));
}

static void say(const struct run *run, const char *what)
{
	progress_clear();
	printf("  %s: %s\n", run->program->name, what);
	fflush(stdout);
}

/* Stops the group and reads its largest process. */
static void take(struct run *run, size_t max_pages)
{
	size_t bytes, resident;
	pid_t pid;
	int err;

	kill(-run->pid, SIGSTOP);
	pid = largest(run, &bytes);
	if (!pid || bytes < LEAST_BYTES) {
		say(run, "left out, it did not get to work");
		return;
	}
	err = procmem_read(pid, max_pages, &run->corpus, &resident);
	if (!err)
		took(run, resident);
	else if (err == -EPERM || err == -EACCES || err == -EIO)
		run->refused = -err;
	else
		say(run, "left out, no pages could be read");
}

/* Its one line is complete, without the newline, or not there yet. */
static bool said_line(struct run *run)
{
	size_t have = strlen(run->line);
	ssize_t got = read(run->out, run->line + have,
			   sizeof(run->line) - 1 - have);
	char *end;

	if (got > 0)
		run->line[have + (size_t)got] = '\0';
	end = strchr(run->line, '\n');
	if (end)
		*end = '\0';
	return end;
}

static bool has_enough(const struct run *run)
{
	size_t bytes;

	largest(run, &bytes);
	return bytes >= run->program->enough_mib << 20;
}

static bool has_ended(const struct run *run)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)run->pid, &info,
		       WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid;
}

/* One look at a running program; true once it is done with. */
static bool attend(struct run *run, size_t max_pages)
{
	bool ready = run->program->enough_mib ? has_enough(run)
					      : said_line(run);

	if (ready || now_ns() > run->deadline_ns)
		take(run, max_pages);
	else if (has_ended(run))
		say(run, "left out, it ended before its memory was read");
	else
		return false;
	end_run(run);
	return true;
}

/* ---- all programs ------------------------------------------------------ */

static void choose(size_t limit)
{
	const struct program *p;

	for (size_t i = 0; (p = program_at(i)) && nr_runs < limit; i++) {
		struct run *run = &runs[nr_runs];

		*run = (struct run){ .program = p };
		if (find_program(p, run->command))
			nr_runs++;
	}
}

static void show_progress(size_t done)
{
	char names[128] = "";

	for (size_t i = 0; i < nr_runs; i++) {
		if (!runs[i].pid)
			continue;
		strncat(names, " ", sizeof(names) - strlen(names) - 1);
		strncat(names, runs[i].program->name,
			sizeof(names) - strlen(names) - 1);
	}
	progress("at work:%s (%zu of %zu done)", names, done, nr_runs);
}

static size_t attend_all(size_t max_pages)
{
	size_t ended = 0;

	for (size_t i = 0; i < nr_runs; i++)
		if (runs[i].pid && attend(&runs[i], max_pages))
			ended++;
	return ended;
}

static void run_all(double seconds, size_t max_pages)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t at_once = cpus > 0 ? (size_t)cpus : 1;
	size_t started = 0, running = 0, done = 0;

	while (done < nr_runs) {
		while (started < nr_runs && running < at_once) {
			if (start(&runs[started++], seconds))
				running++;
			else
				done++;
		}
		show_progress(done);
		poll(NULL, 0, POLL_MS);
		obey_signals();
		for (size_t n = attend_all(max_pages); n; n--) {
			running--;
			done++;
		}
	}
	progress_clear();
}

static bool make_temp_folder(void)
{
	const char *top = getenv("TMPDIR");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/zswap-bench.XXXXXX",
		 top && *top ? top : "/tmp");
	if (!mkdtemp(path))
		return false;
	strcpy(temp_folder, path);
	return true;
}

/* Runs them; moves what was read into @all, in the order of the table. */
static void read_programs(struct corpora *all, size_t max_pages, bool quick)
{
	choose(quick ? 3 : MAX_RUNS);
	if (!nr_runs)
		printf("  none of the programs known here is on PATH\n");
	atexit(clean_up);
	handle_signals(note_signal);
	if (make_temp_folder())
		run_all(quick ? 1 : 3, max_pages);
	else
		printf("  no temporary folder to let programs work in: %s\n",
		       strerror(errno));
	clean_up();
	handle_signals(SIG_DFL);
	for (size_t i = 0; i < nr_runs; i++)
		if (runs[i].corpus.nr_pages)
			corpora_add(all, runs[i].corpus);
}

static void use_files(struct corpora *all, size_t max_pages)
{
	printf("  taking pages of files instead\n");
	live_add_files(all, max_pages);
	if (!all->count)
		bad_input("found neither programs nor files to take pages of; "
			  "name some with --corpus");
}

/* ---- the two ways in --------------------------------------------------- */

static void say_refused(void)
{
	for (size_t i = 0; i < nr_runs; i++)
		if (runs[i].refused)
			printf("  %s: the system forbids reading its memory "
			       "(%s)\n",
			       runs[i].program->name,
			       strerror(runs[i].refused));
}

void live_add_programs(struct corpora *all, size_t max_pages, bool quick)
{
	if (max_pages > PROGRAM_PAGES)
		max_pages = PROGRAM_PAGES;
	printf("memory of programs at work on this machine:\n");
	fflush(stdout);
	if (access("/proc/self/maps", R_OK))
		printf("  no /proc here: the memory of programs cannot be "
		       "read\n");
	else
		read_programs(all, max_pages, quick);
	say_refused();
	if (!all->count)
		use_files(all, max_pages);
}

void live_add_pid(struct corpora *all, pid_t pid, size_t max_pages)
{
	struct corpus c = { 0 };
	size_t resident;
	int err = procmem_read(pid, max_pages, &c, &resident);

	if (err == -ENODATA)
		bad_input("--pid %d: it has no anonymous pages to read",
			  (int)pid);
	if (err == -ENOENT || err == -ESRCH)
		bad_input("--pid %d: no such process", (int)pid);
	if (err)
		bad_input("--pid %d: its memory cannot be read: %s", (int)pid,
			  strerror(-err));
	c.name = bench_format("pid-%d", (int)pid);
	c.origin = bench_format("%zu of %zu resident anonymous pages (%zu MiB)",
				c.nr_pages, resident,
				resident * PAGE_BYTES >> 20);
	corpora_add(all, c);
}
