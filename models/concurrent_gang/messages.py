"""Messages between the tasks of a job: asynchronous sends, blocking receives, contention for links.

A job's communication statements are sends and receives in turn: number 2 k of each task sends the message of
exchange k, number 2 k + 1 receives it. So in an exchange every task sends to one and receives from one.
"""

from numba import float64, int64, void

from models.concurrent_gang import codes
from models.concurrent_gang.events import wake_at
from models.concurrent_gang.state import SYSTEM
from models.kernels.compiling import part
from models.topology.torus import route_into
from models.workloads.statements.draws import shift


@part(int64(int64, int64, int64, int64))
def partner_offset(partners, exchange, n_tasks, key):
    """Return the distance of the messages of an exchange, in the order of the job's tasks."""
    if partners == codes.NEIGHBOURS:
        return 1 if exchange % 2 == 0 else n_tasks - 1
    if partners == codes.RANDOM_PARTNERS:
        return shift(key, exchange, n_tasks)
    if partners == codes.ALL_TO_ALL:
        return 1 + exchange % (n_tasks - 1)
    return 1


@part(float64(int64, int64, float64, SYSTEM))
def carry(source, target, now, system):
    """Send a message from one PE to another and return when it is there. O(links of the route).

    Each link serves messages in the order in which they were sent: a message that was sent earlier has its
    turn reserved on its whole route.
    """
    network, costs = system.network, system.costs
    n_links = route_into(network.sides, source, target, network.route)
    head = now
    if not system.settings.link_contention:
        return now + n_links * costs.latency + costs.transfer
    for i in range(n_links):
        link = network.route[i]
        head = max(head, network.free[link])
        network.free[link] = head + costs.transfer
        head += costs.latency
    return head + costs.transfer


@part(void(int64, int64, int64, float64, SYSTEM))
def send(sender, receiver, exchange, now, system):
    """Send the message of an exchange; if its receiver waits for it, the receiver wakes when it arrives."""
    tasks, network, state = system.tasks, system.network, system.state[0]
    arrival = carry(tasks[sender].pe, tasks[receiver].pe, now, system)
    if tasks[receiver].state == codes.COMMUNICATING and tasks[receiver].awaited == exchange:
        tasks[receiver].awaited = codes.NONE
        wake_at(receiver, arrival, system)
        return
    message = state.free_message
    state.free_message = network.next[message]
    state.n_free_messages -= 1
    network.exchange[message] = exchange
    network.arrival[message] = arrival
    network.next[message] = tasks[receiver].inbox
    tasks[receiver].inbox = message


@part(float64(int64, int64, SYSTEM))
def take_message(task, exchange, system):
    """Remove the message of an exchange to a task; return when it arrives, -1 if there is none."""
    tasks, network, state = system.tasks, system.network, system.state[0]
    before = codes.NONE
    message = tasks[task].inbox
    while message != codes.NONE and network.exchange[message] != exchange:
        before = message
        message = network.next[message]
    if message == codes.NONE:
        return -1.0
    if before == codes.NONE:
        tasks[task].inbox = network.next[message]
    else:
        network.next[before] = network.next[message]
    network.next[message] = state.free_message
    state.free_message = message
    state.n_free_messages += 1
    return network.arrival[message]


@part()
def forget_messages(task, system):
    """Discard messages that were sent to a task and not received."""
    tasks, network, state = system.tasks, system.network, system.state[0]
    while tasks[task].inbox != codes.NONE:
        message = tasks[task].inbox
        tasks[task].inbox = network.next[message]
        network.next[message] = state.free_message
        state.free_message = message
        state.n_free_messages += 1
