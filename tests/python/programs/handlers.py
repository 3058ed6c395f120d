"""try, except, finally, with: around loops, inside loops, in callees; chaining; state seen by handlers."""
import contextlib

import numpy as np

N = TRIPS
K = N - 6


def case_around_loop():
    a = np.arange(K) * 1.0
    s = 0.0
    try:
        for i in range(N):
            s += a[i]
    except IndexError as e:
        text = str(e)
    else:
        text = "none"
    finally:
        last = i
    return s, text, last


def case_inside_each_trip():
    a = np.arange(10) * 1.0
    s = 0.0
    n = 0
    for i in range(N):
        try:
            s += a[i % 12]
        except IndexError:
            n += 1
            continue
        s -= 1
    return s, n


def case_finally_each_trip():
    s = 0
    f = 0
    for i in range(N):
        try:
            if i % 4 == 0:
                continue
            if i == K:
                break
            s += i
        finally:
            f += 1
    return s, f, i


def case_finally_with_exception():
    f = 0
    try:
        for i in range(N):
            try:
                x = 1 / (K - i)
            finally:
                f += 1
    except ZeroDivisionError:
        return f, i, x


def case_finally_exception_escapes():
    f = []
    for i in range(N):
        try:
            x = 1 // (K - i)
        finally:
            f.append(i)
    return f


def case_return_in_finally():
    for i in range(N):
        try:
            x = 1 // (K - i)
        finally:
            if i == K:
                return "swallowed", i


def case_nested_try():
    a = np.zeros(5)
    inner = outer = 0
    for i in range(N):
        try:
            try:
                a[i % 7] += 1 / (i % 3)
            except ZeroDivisionError:
                inner += 1
        except IndexError:
            outer += 1
    return a, inner, outer


def case_handler_reraises():
    n = 0
    for i in range(N):
        try:
            x = 1 // (K - i)
        except ZeroDivisionError:
            n += 1
            raise
    return n


def case_handler_raises_other():
    for i in range(N):
        try:
            x = 1 // (K - i)
        except ZeroDivisionError as e:
            raise ValueError(f"row {i}") from e


def case_context_chain():
    for i in range(N):
        try:
            x = 1 // (K - i)
        except ZeroDivisionError:
            y = [][i]


def case_handler_does_not_match():
    for i in range(N):
        try:
            x = 1 // (K - i)
        except (IndexError, KeyError):
            return "wrong"
    return x


def case_exception_name_deleted():
    n = 0
    for i in range(N):
        try:
            1 // (i % 5)
        except ZeroDivisionError as e:
            n += len(e.args)
    try:
        return e
    except NameError as err:
        return str(err), n


def case_loop_in_handler():
    try:
        1 // 0
    except ZeroDivisionError as e:
        s = 0
        for i in range(N):
            s += i
        return s, str(e), str(e.__traceback__ is not None)


def case_loop_in_finally():
    s = 0
    try:
        1 + 1
    finally:
        for i in range(N):
            s += i
    return s


def case_loop_in_finally_during_exception():
    s = 0
    try:
        try:
            1 // 0
        finally:
            for i in range(N):
                s += i
    except ZeroDivisionError:
        return s


def case_error_in_handler_loop():
    try:
        1 // 0
    except ZeroDivisionError:
        for i in range(N):
            x = [1][0 if i < K else 5]


def case_with_statement():
    log = []

    class Guard:
        def __enter__(self):
            log.append("in")
            return self

        def __exit__(self, kind, value, tb):
            log.append(kind.__name__ if kind else "out")
            return kind is ZeroDivisionError
    s = 0
    with Guard():
        for i in range(N):
            s += 100 // (K - i)
    return s, i, log


def case_with_inside():
    s = 0
    for i in range(N):
        with contextlib.suppress(ZeroDivisionError):
            s += 100 // (i % 6)
    return s


def case_with_nullcontext():
    s = 0
    for i in range(N):
        with contextlib.nullcontext(i) as k:
            s += k
    return s


def case_variables_after_exception():
    a = np.zeros(N)
    s = 0
    x = y = None
    try:
        for i in range(N):
            x = i * 2
            a[i] = x
            y = 1 / (K - i)
            s += 1
    except ZeroDivisionError:
        return i, x, y, s, a


def case_exception_from_nested_loops():
    a = np.ones((N, 4))
    s = 0.0
    try:
        for i in range(N + 3):
            for j in range(4):
                s += a[i, j]
    except IndexError as e:
        return i, j, s, str(e)


def case_index_error_first_trip_of_reentry():
    out = []

    def total(a, n):
        s = 0.0
        for i in range(n):
            s += a[i]
        return s
    a = np.arange(N) * 1.0
    for n in (N, N + 1, N, 2 * N):
        try:
            out.append(total(a, n))
        except IndexError as e:
            out.append(str(e))
    try:
        total(np.zeros(0), 3)
    except IndexError as e:
        out.append(str(e))
    return out


def case_type_error():
    x = 1
    s = 0
    for i in range(N):
        s += x
        if i == K:
            x = "one"
    return s


def case_type_error_none():
    x = 1.5
    s = 0
    for i in range(N):
        s = s + x
        if i == K:
            x = None
    return s


def case_stop_iteration_inside():
    it = iter(range(K))
    s = 0
    for i in range(N):
        s += next(it)
    return s


def case_keyboard_interrupt_raised():
    for i in range(N):
        if i == K:
            raise KeyboardInterrupt
    return i


def case_system_exit():
    for i in range(N):
        if i == K:
            raise SystemExit(3)
    return i


def case_custom_exception_group():
    errors = []
    for i in range(N):
        try:
            1 // (i % 20)
        except ZeroDivisionError as e:
            errors.append(e)
    try:
        raise ExceptionGroup("many", errors)
    except* ZeroDivisionError as g:
        n = len(g.exceptions)
    return n


def case_exception_with_local_state_in_traceback():
    def work(a, n):
        acc = 0.0
        for i in range(n):
            half = a[i] / 2
            acc += half
        return acc
    return work(np.arange(K) * 1.0, N)


def case_multiline_expression_error():
    a = np.arange(K) * 1.0
    s = 0.0
    for i in range(N):
        s += (1.0 +
              a[0] *
              a[i]
              - 2.0)
    return s


def case_two_errors_possible_order():
    a = np.zeros(K)
    for i in range(N):
        a[i] = 1 // (K - i)
    return a


def case_error_after_store():
    a = np.zeros(N)
    b = np.zeros(K)
    try:
        for i in range(N):
            a[i] = i
            b[i] = i
            a[i] += 1
    except IndexError:
        return a, b, i


def case_augmented_store_error_order():
    a = np.zeros(N, np.uint8)
    try:
        for i in range(N):
            a[i] += i * 300 if i == K else 1
    except OverflowError as e:
        return a, i, str(e)


def case_assert_inside_try():
    n = 0
    for i in range(N):
        try:
            assert i % 6, i
        except AssertionError as e:
            n += e.args[0]
    return n


def case_unpack_error():
    t = (1, 2)
    s = 0
    for i in range(N):
        a, b = t
        s += a + b
        if i == K:
            t = (1, 2, 3)
    return s


def case_exception_hides_loop_variable():
    for i in range(N):
        try:
            [][i]
        except IndexError as e:
            keep = e
    tb = keep.__traceback__
    return tb.tb_frame.f_locals["i"], tb.tb_lineno - tb.tb_frame.f_code.co_firstlineno
