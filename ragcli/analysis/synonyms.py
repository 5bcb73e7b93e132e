"""Words that programmers and office people use for one another, as groups. Data, and one look-up table of them."""

from collections.abc import Callable, Mapping
from functools import cache

# Each line is one group: a query with one of its words also looks for the others. Only words whose exchange seldom
# changes what is meant; a word may stand in several groups.
GROUPS = """
auth authentication authenticate
authorization authorize permission
login signin
logout signout
config configuration setting
db database
delete remove
function func
parameter param argument arg
directory folder dir
error exception failure
init initialize initialization
message msg
request req
response resp
repository repo
environment env
variable var
application app
document doc
documentation docs
dependency dependencies
async asynchronous
sync synchronize synchronization
concurrency parallel
regex regexp
execute run
fetch retrieve
create make
begin start
end finish
quick fast
bug defect
test spec
temp temporary tmp
max maximum
min minimum
number num
string str
integer int
boolean bool
character char
information info
administrator admin
password passwd
certificate cert
address addr
previous prev
context ctx
utility util
source src
image picture
employee staff
salary wage
invoice bill
customer client
company firm
buy purchase
car automobile
"""


@cache
def synonyms(stem: Callable[[str], str]) -> Mapping[str, tuple[str, ...]]:
    """Map each stemmed word to the other stems of its groups, sorted."""
    table: dict[str, set[str]] = {}
    for group in GROUPS.splitlines():
        stems = {stem(word) for word in group.split()}
        for word in stems:
            table.setdefault(word, set()).update(stems - {word})
    return {word: tuple(sorted(others)) for word, others in table.items() if others}
