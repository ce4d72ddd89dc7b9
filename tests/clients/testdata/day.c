/* A day's work of hiredis against the server at the given port. */
#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redisContext *connect_to(int port) {
    struct timeval patience = {20, 0};
    redisContext *c = redisConnect("127.0.0.1", port);
    if (c == NULL || c->err) {
        fprintf(stderr, "connect: %s\n", c ? c->errstr : "no memory");
        exit(1);
    }
    redisSetTimeout(c, patience);
    return c;
}

static void fail(redisContext *c, const char *what, redisReply *r) {
    fprintf(stderr, "%s: reply type %d, text %s, error %s\n", what, r ? r->type : -1,
            r && r->str ? r->str : "-", c->errstr);
    exit(1);
}

static void want_int(redisContext *c, long long want, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    redisReply *r = redisvCommand(c, format, ap);
    va_end(ap);
    if (r == NULL || r->type != REDIS_REPLY_INTEGER || r->integer != want) fail(c, format, r);
    freeReplyObject(r);
}

static void want_text(redisContext *c, const char *want, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    redisReply *r = redisvCommand(c, format, ap);
    va_end(ap);
    if (r == NULL || r->str == NULL || strcmp(r->str, want) != 0) fail(c, format, r);
    freeReplyObject(r);
}

static void want_array(redisContext *c, size_t n, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    redisReply *r = redisvCommand(c, format, ap);
    va_end(ap);
    if (r == NULL || r->type != REDIS_REPLY_ARRAY || r->elements != n) fail(c, format, r);
    freeReplyObject(r);
}

int main(int argc, char **argv) {
    int port = atoi(argv[argc - 1]);
    redisContext *c = connect_to(port), *other = connect_to(port);
    redisReply *r;

    want_text(c, "OK", "SET %s %b", "binary", "a\0b", (size_t)3);
    want_int(c, 3, "STRLEN binary");

    for (int i = 0; i < 1000; i++) redisAppendCommand(c, "RPUSH list element:%d", i);
    for (int i = 0; i < 1000; i++) {
        if (redisGetReply(c, (void **)&r) != REDIS_OK || r->integer != i + 1) fail(c, "pipelined RPUSH", r);
        freeReplyObject(r);
    }
    want_array(c, 1000, "LRANGE list 0 -1");

    want_text(c, "OK", "MULTI");
    want_text(c, "QUEUED", "HSET h f v");
    want_text(c, "QUEUED", "HGETALL h");
    want_array(c, 2, "EXEC");

    redisAppendCommand(c, "BLPOP queue 10");
    int done = 0;
    while (!done) redisBufferWrite(c, &done);
    want_int(other, 1, "RPUSH queue job");
    if (redisGetReply(c, (void **)&r) != REDIS_OK || r->elements != 2 || strcmp(r->element[1]->str, "job") != 0)
        fail(c, "BLPOP", r);
    freeReplyObject(r);

    want_array(c, 3, "SUBSCRIBE news");
    want_int(other, 1, "PUBLISH news hello");
    if (redisGetReply(c, (void **)&r) != REDIS_OK || r->elements != 3 || strcmp(r->element[2]->str, "hello") != 0)
        fail(c, "message", r);
    freeReplyObject(r);
    want_array(c, 3, "UNSUBSCRIBE news");

    want_text(c, "1-1", "XADD stream 1-1 k v");
    want_text(c, "OK", "XGROUP CREATE stream g 0");
    want_array(c, 1, "XREADGROUP GROUP g me STREAMS stream >");
    want_int(c, 1, "XACK stream g 1-1");
    want_int(c, 2, "ZADD z 1 a 2.5 b");
    want_text(c, "2.5", "ZSCORE z b");
    want_int(c, 1, "SADD s m");
    want_array(c, 1, "SMEMBERS s");
    redisFree(c);
    redisFree(other);
    return 0;
}
