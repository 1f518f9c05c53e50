import { ENTERPRISE_SCHEMA, GROUP_SCHEMA, USER_SCHEMA } from './scim-attributes.ts'

type AttributeType = 'string' | 'boolean' | 'complex' | 'reference' | 'binary'

/** An attribute as a schema describes it. RFC 7643 §7. */
export interface ScimAttribute {
  readonly name: string
  readonly type: AttributeType
  readonly multiValued: boolean
  readonly description: string
  readonly required: boolean
  readonly caseExact: boolean
  readonly mutability: 'readWrite' | 'readOnly' | 'immutable'
  readonly returned: 'default'
  readonly uniqueness: 'none' | 'server'
  readonly canonicalValues?: readonly string[]
  readonly referenceTypes?: readonly string[]
  readonly subAttributes?: readonly ScimAttribute[]
}

/** A schema without its URL. RFC 7643 §7. */
export interface ScimSchema {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly attributes: readonly ScimAttribute[]
}

type Traits = Partial<Omit<ScimAttribute, 'name' | 'description'>>

function attribute(name: string, description: string, traits: Traits = {}): ScimAttribute {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...traits,
  }
}

function complex(
  name: string,
  description: string,
  subAttributes: readonly ScimAttribute[],
  traits: Traits = {},
): ScimAttribute {
  return attribute(name, description, { type: 'complex', subAttributes, ...traits })
}

/** A multi-valued attribute; each value has members that distinguish it from the others. RFC 7643 §2.4. */
function several(
  name: string,
  description: string,
  value: ScimAttribute,
  canonicalValues: readonly string[] = [],
): ScimAttribute {
  return complex(
    name,
    description,
    [
      value,
      attribute('display', 'Display name.'),
      attribute('type', 'Purpose.', canonicalValues.length > 0 ? { canonicalValues } : {}),
      PRIMARY,
    ],
    { multiValued: true },
  )
}

const PRIMARY = attribute('primary', 'True for the preferred value; at most one value is preferred.', {
  type: 'boolean',
})

const NAME = complex('name', "The parts of the user's name.", [
  attribute('formatted', 'Full name, as displayed.'),
  attribute('familyName', 'The family name.'),
  attribute('givenName', 'The given name.'),
  attribute('middleName', 'The middle names.'),
  attribute('honorificPrefix', 'Titles before the name.'),
  attribute('honorificSuffix', 'Suffixes after the name.'),
])

const ADDRESSES = complex(
  'addresses',
  'Postal addresses.',
  [
    attribute('formatted', 'Full address, as printed.'),
    attribute('streetAddress', 'Street and number.'),
    attribute('locality', 'City.'),
    attribute('region', 'State or region.'),
    attribute('postalCode', 'Postal code.'),
    attribute('country', 'Country.'),
    attribute('type', 'Purpose.', { canonicalValues: ['work', 'home', 'other'] }),
    PRIMARY,
  ],
  { multiValued: true },
)

const GROUPS = complex(
  'groups',
  'Groups that have the user as a member; change them through the groups.',
  [
    attribute('value', 'Id of the group.', { mutability: 'readOnly', caseExact: true }),
    attribute('$ref', 'URL of the group.', {
      type: 'reference',
      referenceTypes: ['Group'],
      mutability: 'readOnly',
      caseExact: true,
    }),
    attribute('display', 'Name of the group.', { mutability: 'readOnly' }),
  ],
  { multiValued: true, mutability: 'readOnly' },
)

/** RFC 7643 §4.1, without passwords, which Sluice does not store. */
const USER: ScimSchema = {
  id: USER_SCHEMA,
  name: 'User',
  description: 'A user who can be a member of workspaces.',
  attributes: [
    attribute('userName', 'Unique in the organization, regardless of case.', {
      required: true,
      uniqueness: 'server',
    }),
    NAME,
    attribute('displayName', 'Display name.'),
    attribute('nickName', 'Nickname.'),
    attribute('profileUrl', "URL of the user's profile.", {
      type: 'reference',
      referenceTypes: ['external'],
      caseExact: true,
    }),
    attribute('title', 'Position, such as `Vice President`.'),
    attribute('userType', 'Relation to the organization, such as `Contractor`.'),
    attribute('preferredLanguage', 'Language, as in `Accept-Language`.'),
    attribute('locale', 'Format of dates and numbers, such as `en-US`.'),
    attribute('timezone', 'Time zone, such as `Europe/Berlin`.'),
    attribute('active', 'While false, the user is a member of no workspace.', {
      type: 'boolean',
    }),
    several('emails', 'Email addresses; the primary one is displayed.', attribute('value', 'The address.'), [
      'work',
      'home',
      'other',
    ]),
    several('phoneNumbers', 'Telephone numbers.', attribute('value', 'The number.'), [
      'work',
      'home',
      'mobile',
      'fax',
      'pager',
      'other',
    ]),
    several('ims', 'Instant messaging addresses.', attribute('value', 'The address.')),
    several(
      'photos',
      'Pictures.',
      attribute('value', 'URL of the picture.', {
        type: 'reference',
        referenceTypes: ['external'],
        caseExact: true,
      }),
      ['photo', 'thumbnail'],
    ),
    ADDRESSES,
    GROUPS,
    several(
      'entitlements',
      'Entitlements, stored for the identity provider.',
      attribute('value', 'The entitlement.'),
    ),
    several(
      'roles',
      'Roles from the identity provider; workspace roles come from groups.',
      attribute('value', 'The role.'),
    ),
    several(
      'x509Certificates',
      'Certificates.',
      attribute('value', 'The certificate, DER in base64.', { type: 'binary', caseExact: true }),
    ),
  ],
}

/** The schema of groups. RFC 7643 §4.2. */
const GROUP: ScimSchema = {
  id: GROUP_SCHEMA,
  name: 'Group',
  description: 'A group of users; mappings give it roles in workspaces.',
  attributes: [
    attribute('displayName', 'Unique in the organization, regardless of case.', {
      required: true,
      uniqueness: 'server',
    }),
    complex(
      'members',
      'Users of the group.',
      [
        attribute('value', 'Id of the user.', { mutability: 'immutable', caseExact: true }),
        attribute('$ref', 'URL of the user.', {
          type: 'reference',
          referenceTypes: ['User'],
          mutability: 'immutable',
          caseExact: true,
        }),
        attribute('type', 'Always `User`.', { mutability: 'immutable', canonicalValues: ['User'] }),
        attribute('display', 'Name of the user.', { mutability: 'readOnly' }),
      ],
      { multiValued: true },
    ),
  ],
}

/** The schema of a company's users. RFC 7643 §4.3. */
const ENTERPRISE_USER: ScimSchema = {
  id: ENTERPRISE_SCHEMA,
  name: 'EnterpriseUser',
  description: "A user's position in a company.",
  attributes: [
    attribute('employeeNumber', 'Employee number.'),
    attribute('costCenter', 'The cost centre.'),
    attribute('organization', 'The organization.'),
    attribute('division', 'The division.'),
    attribute('department', 'The department.'),
    complex('manager', "The user's manager, as named by the identity provider.", [
      attribute('value', 'Id of the manager.', { caseExact: true }),
      attribute('$ref', 'URL of the manager.', {
        type: 'reference',
        referenceTypes: ['User'],
        caseExact: true,
      }),
      attribute('displayName', "The manager's name."),
    ]),
  ],
}

export const SCIM_SCHEMAS: readonly ScimSchema[] = [USER, GROUP, ENTERPRISE_USER]

/** A kind of resource without its URL. RFC 7643 §6. */
export interface ScimResourceType {
  readonly id: string
  readonly name: string
  readonly endpoint: string
  readonly description: string
  readonly schema: string
  readonly schemaExtensions: readonly { readonly schema: string; readonly required: boolean }[]
}

export const SCIM_RESOURCE_TYPES: readonly ScimResourceType[] = [
  {
    id: 'User',
    name: 'User',
    endpoint: '/Users',
    description: USER.description,
    schema: USER_SCHEMA,
    schemaExtensions: [{ schema: ENTERPRISE_SCHEMA, required: false }],
  },
  {
    id: 'Group',
    name: 'Group',
    endpoint: '/Groups',
    description: GROUP.description,
    schema: GROUP_SCHEMA,
    schemaExtensions: [],
  },
]
