// The certified issuer `oidc-provider` for tests: node issuer.mjs NODE_MODULES REDIRECT_URI
// It prints its address as one line and ends with its standard input. People log in by writing their account name.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, redirectUri] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(join(modules, 'oidc-provider/lib/index.js')));

const key = (kid, alg, ...how) => ({ ...generateKeyPairSync(...how).privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' });
const jwks = {
  keys: [
    key('rsa', 'RS256', 'rsa', { modulusLength: 2048 }),
    key('ec', 'ES256', 'ec', { namedCurve: 'P-256' }),
    key('okp', 'EdDSA', 'ed25519'),
  ],
};
const client = (id, further) => ({
  client_id: id,
  client_secret: 'a secret: with / and + and %',
  redirect_uris: [redirectUri],
  response_types: ['code'],
  grant_types: ['authorization_code'],
  ...further,
});

// ACCOUNT is `NAME` or `NAME:GROUP,GROUP:TENANT`.
const claimsOf = (account) => {
  const [name, groups, tenant] = account.split(':');
  return { sub: account, name, email: `${name}@example.com`, email_verified: true, groups: groups ? groups.split(',') : [], tenant };
};

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const address = `http://localhost:${server.address().port}`;
  const provider = new Provider(address, {
    clients: [
      client('prowess'),
      client('prowess-post', { token_endpoint_auth_method: 'client_secret_post' }),
      client('prowess-es256', { id_token_signed_response_alg: 'ES256' }),
      client('prowess-eddsa', { id_token_signed_response_alg: 'EdDSA' }),
      client('prowess-public', { client_secret: undefined, token_endpoint_auth_method: 'none' }),
      client('prowess-hs256', { id_token_signed_response_alg: 'HS256' }),
    ],
    jwks,
    cookies: { keys: ['of one test'] },
    claims: { openid: ['sub', 'name', 'email', 'email_verified', 'groups', 'tenant'] },
    conformIdTokenClaims: false,
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256', 'EdDSA', 'HS256'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (ctx, account) => ({ accountId: account, claims: () => claimsOf(account) }),
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
      grant.addOIDCScope(ctx.oidc.params.scope);
      await grant.save();
      return grant;
    },
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
  });
  const answer = provider.callback();
  server.on('request', async (request, response) => {
    if (!request.url.startsWith('/interaction/')) {
      answer(request, response);
    } else if (request.method === 'GET') {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>Issuer</title><form method="post"><input name="account"><button>Log in</button></form>');
    } else {
      let body = '';
      for await (const part of request) body += part;
      const account = new URLSearchParams(body).get('account');
      await provider.interactionFinished(request, response, account === 'refused' ? { error: 'access_denied' } : { login: { accountId: account } });
    }
  });
  console.log(address);
});
process.stdin.on('end', () => process.exit(0)).resume();
