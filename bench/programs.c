// SPDX-License-Identifier: MIT
/*
 * programs.c - programs that have something to do on most machines
 *
 * Each works on files that the machine has anyway, as its users would have it:
 * interpreters build their own kind of objects, the compiler compiles, git
 * packs, sort sorts. Memory of that kind is what a compressed cache holds.
 */
#include "programs.h"

const char program_files[] =
	"find -L /usr/include /usr/share /usr/lib/python3* -type f -readable "
	"-size -128k '(' -name '*.h' -o -name '*.py' -o -name '*.p[lm]' "
	"-o -name '*.js' -o -name '*.txt' -o -name '*.html' -o -name '*.json' "
	"-o -name '*.xml' -o -name '*.po' -o -name copyright -o -name '*.md' "
	"')' 2>/dev/null";

static const char python_work[] =
	"import ast, os, time\n"
	"end = time.time() + float(os.environ['SECONDS_TO_WORK'])\n"
	"trees, words = [], {}\n"
	"def sources():\n"
	"    for folder, _, names in os.walk(os.path.dirname(os.__file__)):\n"
	"        for name in sorted(names):\n"
	"            if name.endswith('.py'):\n"
	"                yield os.path.join(folder, name)\n"
	"for path in sources():\n"
	"    if time.time() > end or len(trees) == 400:\n"
	"        break\n"
	"    try:\n"
	"        text = open(path, encoding='utf-8').read()\n"
	"        trees.append(ast.parse(text))\n"
	"    except Exception:\n"
	"        continue\n"
	"    for number, line in enumerate(text.splitlines()):\n"
	"        for word in line.split():\n"
	"            words.setdefault(word, []).append((path, number))\n"
	"print('parsing %d files of its library' % len(trees), flush=True)\n"
	"time.sleep(60)\n";

static const char perl_work[] =
	"$| = 1;\n"
	"my $end = time + $ENV{SECONDS_TO_WORK};\n"
	"my (%words, %lines, $done, $bytes);\n"
	"open(my $list, '-|', $ENV{FILES}) or exit 1;\n"
	"while (my $path = <$list>) {\n"
	"    last if time > $end or $bytes > 12e6;\n"
	"    chomp $path;\n"
	"    open(my $file, '<', $path) or next;\n"
	"    while (my $line = <$file>) {\n"
	"        $bytes += length $line;\n"
	"        $lines{$path}[$.] = $line if $. % 4 == 0;\n"
	"        push @{$words{$1}}, $. while $line =~ /(\\w{3,})/g;\n"
	"    }\n"
	"    $done++;\n"
	"}\n"
	"print \"indexing $done files\\n\";\n"
	"sleep 60;\n";

static const char node_work[] =
	"const fs = require('fs');\n"
	"const end = Date.now() + 1000 * process.env.SECONDS_TO_WORK;\n"
	"const words = new Map(), texts = [];\n"
	"let done = 0;\n"
	"function take(path) {\n"
	"    const text = fs.readFileSync(path, 'utf8');\n"
	"    texts.push({ path, lines: text.split('\\n') });\n"
	"    for (const m of text.matchAll(/[A-Za-z_]\\w+/g)) {\n"
	"        let at = words.get(m[0]);\n"
	"        if (!at) words.set(m[0], at = []);\n"
	"        at.push({ file: done, offset: m.index });\n"
	"    }\n"
	"    done++;\n"
	"}\n"
	"function walk(folder) {\n"
	"    let entries = [];\n"
	"    try {\n"
	"        entries = fs.readdirSync(folder, { withFileTypes: true });\n"
	"    } catch { return; }\n"
	"    for (const e of entries) {\n"
	"        if (Date.now() > end || done >= 1500) return;\n"
	"        const path = folder + '/' + e.name;\n"
	"        if (e.isDirectory()) walk(path);\n"
	"        else if (e.isFile() && /\\.(js|json|h|py)$/.test(path))\n"
	"            try { take(path); } catch {}\n"
	"    }\n"
	"}\n"
	"const root = require('path').dirname(fs.realpathSync(\n"
	"    process.execPath));\n"
	"for (const folder of [root + '/../lib/node_modules',\n"
	"                      '/usr/share/nodejs', '/usr/share/javascript',\n"
	"                      '/usr/include', '/usr/share'])\n"
	"    walk(folder);\n"
	"console.log('indexing ' + done + ' files');\n"
	"setTimeout(() => {}, 60000);\n";

/* Templates over templates: enough for hundreds of MiB, were it let. */
static const char cxx_work[] =
	"#include <algorithm>\n"
	"#include <deque>\n"
	"#include <fstream>\n"
	"#include <functional>\n"
	"#include <iostream>\n"
	"#include <list>\n"
	"#include <map>\n"
	"#include <memory>\n"
	"#include <random>\n"
	"#include <regex>\n"
	"#include <set>\n"
	"#include <sstream>\n"
	"#include <string>\n"
	"#include <thread>\n"
	"#include <unordered_map>\n"
	"#include <vector>\n"
	"template <int N> struct num { int v; bool operator<(num o) const {\n"
	"    return v < o.v; } };\n"
	"template <int N> int work(std::istream &in) {\n"
	"    std::map<num<N>, std::vector<std::string>> m;\n"
	"    std::set<num<N>> s;\n"
	"    std::deque<num<N>> d;\n"
	"    for (std::string t; in >> t;) {\n"
	"        num<N> k{(int)t.size()};\n"
	"        m[k].push_back(t); s.insert(k); d.push_back(k);\n"
	"    }\n"
	"    std::sort(d.begin(), d.end());\n"
	"    std::regex r(\"a+\" + std::to_string(N));\n"
	"    std::function<int()> f = [&] { return (int)(m.size() +\n"
	"        s.size() + std::regex_match(\"aa\", r)); };\n"
	"    if constexpr (N > 0) return f() + work<N - 1>(in);\n"
	"    return f();\n"
	"}\n"
	"int main() { return work<200>(std::cin); }\n";

/* C headers that belong together on any Linux, and functions over them. */
static const char c_work[] =
	"#define _GNU_SOURCE\n"
	"#include <arpa/inet.h>\n"
	"#include <complex.h>\n"
	"#include <dirent.h>\n"
	"#include <errno.h>\n"
	"#include <fcntl.h>\n"
	"#include <math.h>\n"
	"#include <netdb.h>\n"
	"#include <netinet/in.h>\n"
	"#include <poll.h>\n"
	"#include <pthread.h>\n"
	"#include <pwd.h>\n"
	"#include <regex.h>\n"
	"#include <sched.h>\n"
	"#include <signal.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"#include <sys/epoll.h>\n"
	"#include <sys/mman.h>\n"
	"#include <sys/socket.h>\n"
	"#include <sys/stat.h>\n"
	"#include <sys/wait.h>\n"
	"#include <unistd.h>\n"
	"#include <wchar.h>\n"
	"#define F(n) struct s##n { struct stat st; char *name; int fd; };\\\n"
	"  int open##n(struct s##n *s, const char *p) {\\\n"
	"    s->name = strdup(p);\\\n"
	"    if (!s->name) return -ENOMEM;\\\n"
	"    s->fd = open(p, O_RDONLY | O_CLOEXEC);\\\n"
	"    if (s->fd < 0 || fstat(s->fd, &s->st)) { free(s->name);\\\n"
	"      return -errno; }\\\n"
	"    return S_ISREG(s->st.st_mode) ? n : -EINVAL; }\\\n"
	"  long sum##n(struct s##n *s, unsigned char *b) { long t = 0, r;\\\n"
	"    while ((r = read(s->fd, b, 4096)) > 0)\\\n"
	"      for (long i = 0; i < r; i++) t = t * 31 + (b[i] ^ n);\\\n"
	"    printf(\"%s %ld\\n\", s->name, t); close(s->fd); return t; }\n"
	"#define T(n) F(1##n##0) F(1##n##1) F(1##n##2) F(1##n##3)\\\n"
	"  F(1##n##4) F(1##n##5) F(1##n##6) F(1##n##7) F(1##n##8) F(1##n##9)\n"
	"#define H(n) T(n##0) T(n##1) T(n##2) T(n##3) T(n##4)\\\n"
	"  T(n##5) T(n##6) T(n##7) T(n##8) T(n##9)\n"
	"#define K(n) H(n##0) H(n##1) H(n##2) H(n##3) H(n##4)\\\n"
	"  H(n##5) H(n##6) H(n##7) H(n##8) H(n##9)\n"
	"K(1) K(2) K(3) K(4) K(5) K(6) K(7) K(8)\n";

static const struct program programs[] = {
	{
		.name = "python3",
		.commands = { "python3" },
		.shell = "exec \"$0\" -I -c \"$WORK\"",
		.work = python_work,
	},
	{
		.name = "c++",
		.commands = { "g++", "c++", "clang++" },
		.shell = "printf '%s' \"$WORK\" |"
			 " \"$0\" -x c++ -std=c++17 -O2 -S -o /dev/null -",
		.work = cxx_work,
		.enough_mib = 96,
		.doing = "compiling templates of its library",
	},
	{
		.name = "cc",
		.commands = { "cc", "gcc", "clang" },
		.unless = "c++",
		.shell = "printf '%s' \"$WORK\" |"
			 " \"$0\" -x c -O2 -S -o /dev/null -",
		.work = c_work,
		.enough_mib = 64,
		.doing = "compiling the system's headers and 8000 functions",
	},
	{
		.name = "perl",
		.commands = { "perl" },
		.shell = "exec \"$0\" -e \"$WORK\"",
		.work = perl_work,
	},
	{
		.name = "node",
		.commands = { "node", "nodejs" },
		.shell = "exec \"$0\" -e \"$WORK\"",
		.work = node_work,
	},
	{
		.name = "git",
		.commands = { "git" },
		.shell = "\"$0\" init -q --bare r &&"
			 " eval \"$FILES\" | head -n 2000 |"
			 " \"$0\" --git-dir=r hash-object -w --no-filters"
			 " --stdin-paths >list;"
			 " exec \"$0\" --git-dir=r pack-objects --stdout -q"
			 " --threads=1 --window=1500 <list >/dev/null",
		.enough_mib = 18,
		.doing = "packing 2000 files",
	},
	{
		.name = "sort",
		.commands = { "sort" },
		.shell = "eval \"$FILES\" | head -n 6000 | xargs cat |"
			 " exec \"$0\" -S 128M >/dev/null",
		.enough_mib = 32,
		.doing = "reading lines of text files",
	},
	{
		.name = "awk",
		.commands = { "mawk", "gawk", "awk" },
		.shell = "eval \"$FILES\" | head -n 6000 | xargs cat |"
			 " exec \"$0\" '{ for (i = 1; i <= NF; i++) n[$i]++;"
			 " line[NR % 400000] = $0 } END { print NR }'"
			 " >/dev/null",
		.enough_mib = 32,
		.doing = "counting words of text files",
	},
};

const struct program *program_at(size_t i)
{
	return i < sizeof(programs) / sizeof(*programs) ? &programs[i] : NULL;
}
