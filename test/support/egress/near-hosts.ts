/** Hosts that are one, almost one, and none at all: `api.example.com` seen from all sides. */

/** Spellings of the one host. */
export const SAME_HOSTS = ['api.example.com', 'API.Example.COM', 'api.example.com.', 'API.EXAMPLE.COM.']

/** What is refused wherever a host is given. */
export const REFUSED_HOSTS = [
  '', '.', '..', 'api.example.com..', '.api.example.com', 'api..example.com', ' api.example.com', 'api.example.com ', 'api.example.com\n',
  'api example.com', 'api.example.com\u00a0', '\tapi.example.com', 'api.example.com\0', 'https://api.example.com', 'http://api.example.com/',
  '//api.example.com', 'api.example.com/', 'api.example.com/v1', 'api.example.com?x', 'api.example.com#x', 'api.example.com\\x',
  'api.example.com:443', 'api.example.com:', ':443', 'user@api.example.com', 'user:word@api.example.com', '@api.example.com',
  'api.example.com@evil.example', '*.example.com', '*', 'api.*.com', 'api.example.*', 'a*i.example.com', '-api.example.com', 'api-.example.com',
  'api.example.com-', 'api.-example.com', 'api_x.example.com', 'api.example_.com', 'api%2eexample.com', 'api.example.com%00', 'api,example.com',
  '"api.example.com"', '(api).example.com', 'api.example.com;', 'аpi.example.com', 'api.exаmple.com', 'apı.example.com', 'bücher.example',
  'api。example。com', 'api．example.com', 'ａｐｉ.example.com', '\u212aapi.example.com', 'api.exam\u00adple.com', 'api\u200b.example.com',
  'api.example.com\u3002', 'ſapi.example.com', '☃.example', '127.0.0.1', '127.1', '127', '0', '2130706433', '0x7f000001', '0x7f.0.0.1', '0X7F.1',
  '017700000001', '0177.0.0.1', '127.0.0.1.', '1.2.3.4.5', '256.256.256.256', 'api.example.1', 'api.example.0x1', 'api.0x', '0x', '[::1]', '::1',
  '[::ffff:127.0.0.1]', '::ffff:7f00:1', 'fe80::1%eth0', '[api.example.com]', '[2001:db8::1]', 'v1.fe80::',
]

/** Hosts of their own that a secret of `api.example.com` is never released to: parents, children, siblings, look-alikes. */
const OTHER_HOSTS = [
  'example.com', 'com', 'api', 'www.api.example.com', 'a.api.example.com', 'xapi.example.com', 'apix.example.com', 'api-example.com',
  'api.example.com.evil.example', 'evil-api.example.com', 'api.example.co', 'api.example.comm', 'api.example.org', 'api.example.com.com',
  'api2.example.com', 'ap.example.com', 'pi.example.com', 'api.examp1e.com', 'api.exarnple.com', 'apl.example.com', 'api.xample.com',
  'api.example-com', 'apiexample.com', 'api.examplecom', 'api-.com', 'com.example.api', 'moc.elpmaxe.ipa', 'xn--pi-7kc.example.com',
  'xn--api.example.com', 'api.xn--exmple-4nf.com', 'api.example.xn--com', 'localhost', 'api.example.com.localhost', 'api.example.com.local',
  'api--example.com', 'a-p-i.example.com', '0api.example.com', 'api0.example.com', 'api.example.com0', 'api.0example.com',
]

/** Everything but the host itself. */
export const NEAR_MISSES: readonly string[] = [...OTHER_HOSTS, ...REFUSED_HOSTS]
