"""Sockets: what comes back through one is unknown, once derivatives were sent."""

from socket import socket

from autodiff_hook.semantics.files import reading, writing
from autodiff_hook.semantics.meanings import means

for send in (socket.send, socket.sendall, socket.sendto):
    means(send)(writing(send, 0, "self", "which sends it away"))
for receive in (socket.recv, socket.recvfrom):
    means(receive)(reading(receive, "self"))
